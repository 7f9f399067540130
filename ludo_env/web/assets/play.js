"use strict";

// Plays a game that the server holds: shows how it stands, and tells the server what is picked.

const element = (id) => document.getElementById(id);
const OPTIONS = ["mandatory_capture", "home_jumps", "pawn_on_start"];
const LOOKS_EACH = 2000; // milliseconds between looks at what other tabs have done
const ONLY_MOVE_PAUSE = 600;
const NO_ANSWER = "The server does not answer. Once it is there again, this page goes on.";
let pickRest = 300; // milliseconds after a pick in which another is the same click again

let state = null;
let board = null;
let timer = null;
let timedVersion = null; // of the game that the timer is set for
let failedVersion = null; // of the game in which an agent failed
let lastPick = -Infinity;
let isBusy = false;
let isThinking = false; // whether an agent has been asked
let isLooking = false;
let isLost = false; // whether the server did not answer last time
let isMoveWanted = false; // whether the keyboard goes to the moves once there are some
let hinted = new Map();

const nameOf = (player) => `${state.seats[player]} (${player})`;
const known = () => (state ? state.game : 0);

// Talking to the server

async function ask(path, message) {
  const sent = message && {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(message),
  };
  const response = await fetch(path, sent);
  const answer = await response.json();
  return { status: response.status, answer };
}

// Sends a message that changes the game, and shows what comes of it.
async function change(path, message = {}) {
  if (isBusy) return false;
  isBusy = true;
  try {
    const { status, answer } = await ask(path, { version: state.version, game: state.game, ...message });
    complain(status === 200 ? "" : answer.error);
    take(status === 200 ? answer : answer.state);
    return status === 200;
  } catch {
    lose();
    return false;
  } finally {
    isBusy = false;
  }
}

// Has the agent play whose turn it is; the user may do other things meanwhile.
async function askAgent() {
  if (isThinking) {
    timedVersion = null; // to be asked again once it has answered
    return;
  }
  isThinking = true;
  const { version, game } = state;
  try {
    const { status, answer } = await ask("/agent", { version, game });
    if (status === 200) complain("");
    if (status === 500) {
      failedVersion = version;
      complain(`${answer.error}. Begin a new game, or take a move back.`);
    }
    isThinking = false;
    take(status === 200 ? answer : answer.state);
  } catch {
    lose();
  } finally {
    isThinking = false;
  }
}

async function look() {
  if (isLooking || document.hidden) return;
  isLooking = true;
  try {
    const { status, answer } = await ask(`/state?game=${known()}`);
    if (isLost) complain("");
    isLost = false;
    if (status === 200) take(answer);
  } catch {
    lose();
  } finally {
    isLooking = false;
  }
}

function complain(words) {
  element("error").textContent = words;
}

function lose() {
  isLost = true;
  timedVersion = null;
  complain(NO_ANSWER);
}

// Showing how the game stands

function take(found) {
  if (!found || (state && found.version < state.version)) return; // nothing, or it came late
  if (state && found.version === state.version) {
    goOn();
    return;
  }
  const isNew = !state || found.game !== state.game;
  const isLater = !isNew && found.version === state.version + 1;
  isMoveWanted ||= isFocusOnMoves();
  state = found;
  hinted = new Map();
  if (found.board) setUpBoard(found.board);
  show(isLater);
  if (isNew) fillForm();
  goOn();
}

function isFocusOnMoves() {
  const at = document.activeElement;
  return element("moves").contains(at) || element("stage").contains(at);
}

function setUpBoard({ markup, layout }) {
  element("stage").innerHTML = markup;
  board = new Board(element("board"), layout, pick);
}

function show(isMoved) {
  board.show({ ...state, legal: state.legal.map((move) => ({ ...move, words: wordsOn(move) })) }, isMoved);
  document.title = `${turnWords()} – petits chevaux`;
  element("title").textContent = state.seats.map((_, player) => nameOf(player)).join(" – ");
  element("about").textContent = aboutWords();
  element("turn-title").textContent = turnWords();
  element("told").textContent = state.told.slice(-state.seats.length).join(" ");
  element("undo").disabled = !state.can_undo;
  showSeats();
  element("hint").disabled = state.turn === "over";
  showMoves();
  showList();
}

// Who plays with which pawns, and whose turn it is.
function showSeats() {
  const entries = state.seats.map((_, player) => {
    const entry = document.createElement("li");
    entry.append(pawnPicture(player), nameOf(player));
    if (player === state.player && state.turn !== "over") entry.setAttribute("aria-current", "true");
    return entry;
  });
  element("players-list").replaceChildren(...entries);
}

function wordsOn(move) {
  const hint = hinted.get(move.action);
  if (!hint) return "";
  return hint.share === null ? (hint.would_play ? "✓" : "") : `${Math.round(100 * hint.share)}%`;
}

function turnWords() {
  if (state.turn === "over") return `${nameOf(state.winner)} has won`;
  if (state.turn === "agent") return `${nameOf(state.player)} thinks about a ${state.die}`;
  return `${nameOf(state.player)}: play a ${state.die}`;
}

function aboutWords() {
  const options = OPTIONS.filter((name) => state.rules[name]).map((name) => name.replaceAll("_", " "));
  return `Seed ${state.seed}; ${["pawns each: " + state.rules.num_pawns, ...options].join(", ")}.`;
}

function showMoves() {
  const entries = state.legal.map((move, number) => {
    const button = document.createElement("button");
    const hint = hinted.get(move.action);
    const words = hint && hint.share !== null ? `, ${hint.means} ${(100 * hint.share).toFixed(1)} %` : "";
    button.textContent = move.name + words + (hint?.would_play ? ` – ${hint.agent} would play this` : "");
    button.addEventListener("click", () => pick(number));
    const entry = document.createElement("li");
    entry.append(button);
    return entry;
  });
  if (state.places) {
    state.places.forEach((place, player) => {
      const entry = document.createElement("li");
      entry.textContent = `${nameOf(player)}: place ${place}`;
      entries.push(entry);
    });
  }
  element("moves").replaceChildren(...entries);
  giveFocus();
}

// Leads the keyboard to the moves, unless the user has gone elsewhere with it.
function giveFocus() {
  const at = document.activeElement;
  if (at !== document.body && !isFocusOnMoves()) isMoveWanted = false;
  if (!isMoveWanted || state.turn === "agent") return;
  (element("moves").querySelector("button") || element("turn-title")).focus();
  isMoveWanted = false;
}

function showList() {
  const entries = [...state.told].reverse().map((words) => {
    const entry = document.createElement("li");
    entry.textContent = words;
    return entry;
  });
  element("list").replaceChildren(...entries);
}

// Going on

function goOn() {
  if (state.version === timedVersion) return;
  clearTimeout(timer);
  if (document.hidden) return;
  const isOnly = state.turn === "human" && state.legal.length === 1 && element("auto").checked;
  if (state.turn === "agent" && state.version !== failedVersion) {
    timer = setTimeout(askAgent, 1000 * element("pause").value);
  } else if (isOnly) {
    timer = setTimeout(() => play(state.legal[0]), ONLY_MOVE_PAUSE);
  }
  timedVersion = state.version;
}

function goOnAnew() {
  timedVersion = null;
  if (state) goOn();
}

function play(move) {
  change("/play", { action: move.action });
}

// A user's pick of a legal move by its number.
function pick(number) {
  const now = performance.now();
  if (number >= state.legal.length || now - lastPick < pickRest) return;
  lastPick = now;
  play(state.legal[number]);
}

function undo() {
  if (state.can_undo) change("/undo");
}

async function hint() {
  if (state.turn === "over") return;
  const version = state.version;
  try {
    const { status, answer } = await ask("/hint", { version, agent: element("hinter").value });
    complain(status === 200 ? "" : answer.error);
    if (status !== 200 || version !== state.version) return;
    const { agent, means, moves } = answer;
    hinted = new Map(moves.map((move) => [move.action, { ...move, agent, means }]));
    isMoveWanted ||= isFocusOnMoves();
    show(false);
  } catch {
    lose();
  }
}

// A new game

function fillForm() {
  element("players").value = state.seats.length;
  element("pawns").value = state.rules.num_pawns;
  OPTIONS.forEach((name) => (element(name).checked = state.rules[name]));
  fillSeats(state.seats);
}

function fillSeats(seats) {
  const entries = seats.map((spec, player) => {
    const select = element("seat").content.firstElementChild.cloneNode(true);
    select.value = spec;
    select.setAttribute("aria-label", `Player ${player}`);
    const entry = document.createElement("li");
    entry.append(select);
    return entry;
  });
  element("seats").replaceChildren(...entries);
}

const chosenSeats = () => [...element("seats").querySelectorAll("select")].map((select) => select.value);

function changePlayers() {
  const seats = chosenSeats();
  const added = seats[seats.length - 1];
  fillSeats(Array.from({ length: Number(element("players").value) }, (_, player) => seats[player] ?? added));
}

async function begin(event) {
  event.preventDefault();
  const rules = { num_pawns: Number(element("pawns").value) };
  OPTIONS.forEach((name) => (rules[name] = element(name).checked));
  const message = { seats: chosenSeats(), rules, seed: element("seed").value };
  if (await change("/new", message)) element("new").open = false;
}

// What the user likes stays with the browser.

function remember(id, property) {
  const field = element(id);
  try {
    const kept = JSON.parse(localStorage.getItem(id));
    if (kept !== null) field[property] = kept;
  } catch {
    // The browser keeps nothing, or something else: the field stays as it is.
  }
  field.addEventListener("input", () => {
    try {
      localStorage.setItem(id, JSON.stringify(field[property]));
    } catch {
      // It holds for this page.
    }
  });
}

function showPause() {
  element("pause-words").textContent = `${Number(element("pause").value).toFixed(1)} seconds`;
}

const KEYS = { u: undo, h: hint };

document.addEventListener("keydown", (event) => {
  const isTyped = event.target.closest("select, #seed") || event.ctrlKey || event.metaKey || event.altKey;
  if (isTyped || event.repeat || !state) return;
  const key = event.key.toLowerCase();
  if (/^[1-4]$/.test(key)) {
    isMoveWanted = true;
    pick(Number(key) - 1);
  } else if (key in KEYS) KEYS[key]();
});

remember("pause", "value");
remember("auto", "checked");
element("pause").addEventListener("input", showPause);
element("pause").addEventListener("input", goOnAnew);
element("auto").addEventListener("input", goOnAnew);
element("undo").addEventListener("click", undo);
element("hint").addEventListener("click", hint);
element("players").addEventListener("change", changePlayers);
element("form").addEventListener("submit", begin);
document.addEventListener("visibilitychange", () => {
  goOnAnew();
  look();
});
setInterval(look, LOOKS_EACH);
showPause();
look();
