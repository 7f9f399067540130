"use strict";

// Puts a board's parts where a position has them. What they look like stands in the page's <defs>,
// where they go in its layout; this file knows no rules.

const SVG = "http://www.w3.org/2000/svg";

function svgElement(name, attributes = {}) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

function part(name, [x, y], more = "") {
  return svgElement("use", { href: `#${name}`, transform: `translate(${x} ${y}) ${more}` });
}

const isCalm = matchMedia("(prefers-reduced-motion: reduce)");

// A picture of a player's pawn, for lists.
function pawnPicture(player) {
  const made = svgElement("svg", { viewBox: "-0.4 -0.4 0.8 0.8", class: "pawn", "aria-hidden": "true" });
  made.append(svgElement("use", { href: `#pawn${player}` }));
  return made;
}

class Board {
  // svg: the empty board. layout: see board.layout. onPick: called with a legal move's number
  // when the user picks its pawn; without it marks are only seen.
  constructor(svg, layout, onPick = null) {
    this.svg = svg;
    this.layout = layout;
    this.onPick = onPick;
    if (onPick) svg.setAttribute("role", "group"); // what is in an image cannot be picked
    this.layers = {};
    for (const name of ["trace", "cross", "pawns", "marks", "middle"]) {
      this.layers[name] = svgElement("g", { class: name });
      svg.append(this.layers[name]);
    }
    this.pawns = layout.yards.map((yard, player) =>
      yard.map(() => {
        const use = svgElement("use", { href: `#pawn${player}` });
        this.layers.pawns.append(use);
        return { use, spot: null };
      }),
    );
  }

  // A spot is a progress, or -1 - place in the yard.
  point(player, spot) {
    return spot > 0 ? this.layout.squares[player][spot] : this.layout.yards[player][-1 - spot];
  }

  // state: pawns, player, die, winner, label, and where there are: legal [{source, words}], of
  // those that may be picked target and name too, last {player, source, target, captured}.
  show(state, isMoved = false) {
    state.pawns.forEach((own, player) => this.placePawns(player, own, isMoved));
    this.showTrace(state.last);
    this.showCross(state.last);
    this.showMarks(state);
    const middle =
      state.winner === null ? `die${state.player}-${state.die || 0}` : `crown${state.winner}`;
    this.layers.middle.replaceChildren(part(middle, this.layout.middle));
    this.svg.querySelector("title").textContent = state.label;
  }

  placePawns(player, own, isMoved) {
    const wanted = own.map((progress, rank) => progress || -1 - (own.length - 1 - rank));
    const left = this.pawns[player].filter((pawn) => !wanted.includes(pawn.spot));
    const taken = this.pawns[player].map((pawn) => pawn.spot);
    wanted
      .filter((spot) => !taken.includes(spot))
      .forEach((spot, k) => this.movePawn(player, left[k], spot, isMoved));
  }

  movePawn(player, pawn, spot, isMoved) {
    const places = this.path(player, pawn.spot, spot).map(([x, y]) => `translate(${x}px, ${y}px)`);
    pawn.spot = spot;
    pawn.use.style.transform = places[places.length - 1];
    pawn.use.getAnimations().forEach((animation) => animation.cancel());
    if (isMoved && places.length > 1 && !isCalm.matches) {
      this.layers.pawns.append(pawn.use); // above the others
      pawn.use.animate(
        places.map((transform) => ({ transform })),
        { duration: 120 + 80 * places.length, easing: "ease-in-out" },
      );
    }
  }

  // The points from a spot to another: square by square along a move, else straight.
  path(player, from, to) {
    if (from === null) return [this.point(player, to)];
    const spots = [from];
    const isStep = from > 0 && to > from && to - from <= 6;
    if (isStep) for (let spot = from + 1; spot < to; spot++) spots.push(spot);
    return [...spots, to].map((spot) => this.point(player, spot));
  }

  showTrace(last) {
    this.layers.trace.replaceChildren();
    if (!last) return;
    const { colour, width, head, gap } = this.layout.arrow;
    const yard = this.layout.yards[last.player][0];
    const start = last.source ? this.layout.squares[last.player][last.source] : yard;
    const end = this.layout.squares[last.player][last.target];
    const [dx, dy] = [end[0] - start[0], end[1] - start[1]];
    const length = Math.hypot(dx, dy);
    if (length < 0.5) return;
    const at = (distance) => [start[0] + (dx * distance) / length, start[1] + (dy * distance) / length];
    const [root, tip] = [at(length - gap - head), at(length - gap)];
    const degrees = (Math.atan2(dy, dx) * 180) / Math.PI;
    this.layers.trace.append(
      svgElement("line", {
        x1: start[0],
        y1: start[1],
        x2: root[0],
        y2: root[1],
        stroke: colour,
        "stroke-width": width,
        "stroke-linecap": "round",
      }),
      part("tip", tip, `rotate(${degrees})`),
    );
  }

  showCross(last) {
    const crosses = last?.captured ? [part("cross", this.layout.squares[last.player][last.target])] : [];
    this.layers.cross.replaceChildren(...crosses);
  }

  showMarks(state) {
    const marks = (state.legal || []).map((move, number) => {
      const own = state.pawns[state.player];
      const inYard = own.filter((progress) => progress === 0).length;
      const point = this.point(state.player, move.source || -inYard);
      const group = svgElement("g", { transform: `translate(${point[0]} ${point[1]})` });
      group.append(part("mark", [0, 0]));
      if (move.words) group.append(...this.label(move.words));
      if (this.onPick) this.makePickable(group, number, state.player, move, point);
      return group;
    });
    this.layers.marks.replaceChildren(...marks);
  }

  label(words) {
    const { box, words: text } = this.layout.label;
    const drawn = svgElement("text", {
      x: text.x,
      y: text.y + 0.36 * text.size,
      "font-size": text.size,
      fill: text.fill,
    });
    drawn.textContent = words;
    return [
      svgElement("rect", {
        x: box.x,
        y: box.y,
        width: box.width,
        height: box.height,
        rx: box.radius,
        fill: box.fill,
        stroke: box.line,
        "stroke-width": box.line_width,
      }),
      drawn,
    ];
  }

  makePickable(group, number, player, { name, target }, [x, y]) {
    const [toX, toY] = this.point(player, target);
    const preview = part("mark", [toX - x, toY - y]);
    preview.classList.add("target");
    group.append(svgElement("circle", { r: 0.5, fill: "transparent", class: "spot" }), preview);
    group.setAttribute("role", "button");
    group.setAttribute("tabindex", "0");
    group.setAttribute("aria-label", name);
    group.classList.add("pick");
    group.addEventListener("click", () => this.onPick(number));
    group.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      this.onPick(number);
    });
  }
}
