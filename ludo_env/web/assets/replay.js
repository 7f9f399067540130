"use strict";

// Steps through a game: the board, what was thought of each move, and the chances over time.

const story = JSON.parse(document.getElementById("story").textContent);
const frames = story.frames;
const element = (id) => document.getElementById(id);
const board = new Board(element("board"), story.layout);
const percent = (chance) => `${(100 * chance).toFixed(1)} %`;
const nameOf = (player) => `${story.players[player].name} (${player})`;
const DASHES = ["none", "7 3", "2 3", "9 3 2 3"];
const [PLAY_ICON, PAUSE_ICON] = ["M4 2v12l9-6z", "M4 3h3v10H4zM9 3h3v10H9z"];
const [WIDTH, HEIGHT, EDGE] = [600, 180, 26];

let current = -1;
let timer = null;

const decisions = frames.filter((frame) => frame.moves).length;
const best = (frame) => Math.max(...frame.moves.map((move) => move.chance));
const isPlayed = (frame) => frame.played !== undefined;
const loss = (frame) => frame.cost || 0;
const judgement = (frame) => (loss(frame) >= story.blunder ? "??" : loss(frame) >= story.mistake ? "?" : "");

function shown(frame) {
  const legal = (frame.moves || []).map((move) => ({ source: move.source, words: wordsOn(move) }));
  return { ...frame, legal };
}

// What stands below a pawn that may move: how probable the move is, or what it is worth.
function wordsOn(move) {
  const share = move.probability === undefined ? move.chance : move.probability;
  return `${Math.round(100 * share)}%`;
}

function go(to) {
  const number = Math.max(0, Math.min(frames.length - 1, to));
  if (number === current) return;
  const isNext = number === current + 1;
  current = number;
  const frame = frames[number];
  board.show(shown(frame), isNext);
  element("told").textContent = `${frame.told} ${ending(frame)}`.trim();
  const slider = element("slider");
  slider.value = number;
  slider.setAttribute("aria-valuetext", whereWords(frame));
  showDecision(frame);
  showCursor(number);
  markInList(number);
}

function ending(frame) {
  if (frame.winner === null) return "";
  const forfeited = story.players.map((_, k) => k).filter((k) => story.players[k].forfeited);
  const winner = story.players.findIndex((player) => player.place === 1);
  if (!forfeited.length) return `${nameOf(frame.winner)} has won.`;
  const words = `${nameOf(frame.winner)} is home first. ${forfeited.map(nameOf).join(", ")} forfeited.`;
  return winner < 0 ? words : `${words} ${nameOf(winner)} has won.`;
}

// Where the game stands, among its decisions.
function whereWords(frame) {
  return frame.moves ? `decision ${current + 1} of ${decisions}` : "the end";
}

function cell(text, kind = "td") {
  const made = document.createElement(kind);
  made.textContent = text;
  return made;
}

function showDecision(frame) {
  const moves = frame.moves || [];
  const hasShares = moves.some((move) => move.probability !== undefined);
  const head = document.createElement("tr");
  const titles = ["Move", `Chance of ${nameOf(frame.player)}`, "Costs"];
  if (story.policy) titles.push(story.policy);
  for (const title of titles) {
    const made = cell(title, "th");
    made.scope = "col";
    head.append(made);
  }
  const rows = moves.map((move, number) => {
    const row = document.createElement("tr");
    row.classList.toggle("played", number === frame.played);
    const cost = best(frame) - move.chance;
    row.append(
      cell(move.name + (number === frame.played ? " ← played" : "")),
      cell(percent(move.chance)),
      cell(cost < 0.0005 ? "best" : percent(cost)),
    );
    if (story.policy) row.append(cell(policyWords(move, hasShares)));
    return row;
  });
  element("moves").replaceChildren(head, ...rows);
  const where = whereWords(frame);
  const who = moves.length ? `: ${nameOf(frame.player)} plays a ${frame.die}` : "";
  element("decision-title").textContent = where[0].toUpperCase() + where.slice(1) + who;
}

function policyWords(move, hasShares) {
  if (hasShares) return percent(move.probability);
  return (move.chosen ? "would play" : "") + (move.own ? ` ${percent(move.own[frames[current].player])}` : "");
}

// The curve

const x = (number) => EDGE + ((WIDTH - 2 * EDGE) * number) / Math.max(1, frames.length - 1);
const y = (chance) => HEIGHT - EDGE + (2 * EDGE - HEIGHT) * chance;

function drawCurve() {
  const curve = element("curve");
  curve.setAttribute("viewBox", `0 0 ${WIDTH} ${HEIGHT}`);
  for (const chance of [0, 0.5, 1]) {
    curve.append(
      svgElement("line", { x1: EDGE, x2: WIDTH - EDGE, y1: y(chance), y2: y(chance), class: "grid" }),
    );
    const words = svgElement("text", { x: EDGE - 4, y: y(chance) + 4, "text-anchor": "end" });
    words.textContent = `${100 * chance}`;
    curve.append(words);
  }
  story.players.forEach((player, number) => {
    const points = frames.map((frame, k) => `${x(k).toFixed(1)},${y(frame.chances[number]).toFixed(1)}`);
    curve.append(
      svgElement("polyline", {
        points: points.join(" "),
        fill: "none",
        stroke: player.colour,
        "stroke-width": 1.8,
        "stroke-dasharray": DASHES[number],
      }),
    );
    const entry = document.createElement("li");
    const sample = svgElement("svg", { viewBox: "0 0 40 10", class: "sample", "aria-hidden": "true" });
    sample.append(
      svgElement("line", {
        x1: 0,
        x2: 40,
        y1: 5,
        y2: 5,
        stroke: player.colour,
        "stroke-width": 3,
        "stroke-dasharray": DASHES[number],
      }),
    );
    const costs = frames.filter((frame) => frame.player === number).reduce((sum, f) => sum + loss(f), 0);
    const words = document.createElement("span");
    words.id = `legend-${number}`;
    words.dataset.costs = `gave away ${percent(costs)}`;
    entry.append(pawnPicture(number), sample, words);
    element("legend").append(entry);
  });
  frames.forEach((frame, k) => {
    if (!judgement(frame)) return;
    curve.append(
      svgElement("circle", { cx: x(k), cy: y(frame.chances[frame.player]), r: 3.5, class: "mistake" }),
    );
  });
  curve.append(svgElement("line", { id: "cursor", y1: EDGE / 2, y2: HEIGHT - EDGE / 2 }));
  curve.addEventListener("click", (event) => {
    const { left, width } = curve.getBoundingClientRect();
    const at = ((event.clientX - left) / width) * WIDTH;
    go(Math.round(((at - EDGE) / (WIDTH - 2 * EDGE)) * (frames.length - 1)));
  });
}

function showCursor(number) {
  element("cursor").setAttribute("x1", x(number));
  element("cursor").setAttribute("x2", x(number));
  story.players.forEach((player, k) => {
    const place = (player.place ? `, place ${player.place}` : "") + (player.forfeited ? ", forfeited" : "");
    const words = element(`legend-${k}`);
    words.textContent = `${nameOf(k)}: ${percent(frames[number].chances[k])}${place}, ${words.dataset.costs}`;
  });
}

// The list of moves

function drawList() {
  frames.forEach((frame, number) => {
    if (!isPlayed(frame)) return;
    const entry = document.createElement("li");
    const button = document.createElement("button");
    button.textContent = `${nameOf(frame.player)}: ${frame.moves[frame.played].name}${judgement(frame)}`;
    button.addEventListener("click", () => go(number));
    entry.append(button);
    element("list").append(entry);
  });
}

function markInList(number) {
  const list = element("list");
  list.querySelector("[aria-current]")?.removeAttribute("aria-current");
  const button = list.children[number]?.firstChild;
  if (!button) return;
  button.setAttribute("aria-current", "step");
  const top = button.offsetTop; // in the list, which is positioned
  if (top < list.scrollTop || top > list.scrollTop + list.clientHeight - 40) list.scrollTop = top - 60;
}

// Going on

function setPlaying(isPlaying) {
  clearInterval(timer);
  timer = isPlaying ? setInterval(playOn, Number(element("speed").value)) : null;
  element("play-words").textContent = isPlaying ? "Pause" : "Play";
  element("play-icon").setAttribute("d", isPlaying ? PAUSE_ICON : PLAY_ICON);
  element("told").setAttribute("aria-live", isPlaying ? "off" : "polite");
}

function playOn() {
  go(current + 1);
  if (current === frames.length - 1) setPlaying(false);
}

function togglePlaying() {
  if (timer === null && current === frames.length - 1) go(0);
  setPlaying(timer === null);
}

function step(to) {
  setPlaying(false);
  go(to);
}

const KEYS = {
  ArrowLeft: () => step(current - 1),
  ArrowRight: () => step(current + 1),
  PageUp: () => step(current - 10),
  PageDown: () => step(current + 10),
  Home: () => step(0),
  End: () => step(frames.length - 1),
  " ": togglePlaying,
};

document.addEventListener("keydown", (event) => {
  const isOthers = event.target.closest("select") || event.ctrlKey || event.metaKey || event.altKey;
  if (isOthers || (event.key === " " && event.target.closest("button")) || !(event.key in KEYS)) return;
  event.preventDefault();
  KEYS[event.key]();
});

element("first").addEventListener("click", () => step(0));
element("back").addEventListener("click", () => step(current - 1));
element("play").addEventListener("click", togglePlaying);
element("forward").addEventListener("click", () => step(current + 1));
element("last").addEventListener("click", () => step(frames.length - 1));
element("slider").addEventListener("input", (event) => step(Number(event.target.value)));
element("speed").addEventListener("change", () => timer !== null && setPlaying(true));
element("slider").max = frames.length - 1;
element("judge").textContent = story.judge;
drawCurve();
drawList();
go(0);
