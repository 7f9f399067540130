"use strict";

// Plays a game that the server holds: shows how it stands, and tells the server what is picked.

const element = (id) => document.getElementById(id);
const OPTIONS = ["mandatory_capture", "home_jumps", "pawn_on_start"];
const LOOKS_EACH = 2000; // milliseconds between looks at what other tabs have done
const ONLY_MOVE_PAUSE = 600;

let state = null;
let board = null;
let timer = null;
let isBusy = false;
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
  clearTimeout(timer);
  try {
    const { status, answer } = await ask(path, { version: state.version, game: state.game, ...message });
    if (status === 200) complain("");
    else if (status !== 409 || path !== "/agent") complain(answer.error);
    isBusy = false;
    if (status === 200) take(answer);
    else if (answer.state) take(answer.state);
    return status === 200;
  } catch {
    complain("The server does not answer. Once it is there again, this page goes on.");
    return false;
  } finally {
    isBusy = false;
  }
}

async function look() {
  if (isBusy || document.hidden) return;
  try {
    const { status, answer } = await ask(`/state?game=${known()}`);
    if (status === 200 && !isBusy) take(answer);
  } catch {
    complain("The server does not answer. Once it is there again, this page goes on.");
  }
}

function complain(words) {
  element("error").textContent = words;
}

// Showing how the game stands

function take(found) {
  if (state && found.version === state.version) return goOn();
  if (state && found.version < state.version) return undefined; // it came late
  const isNew = !state || found.game !== state.game;
  const isLater = !isNew && found.version === state.version + 1;
  isMoveWanted ||= isFocusOnMoves();
  state = found;
  hinted = new Map();
  if (found.board) setUpBoard(found.board);
  show(isLater);
  if (isNew) fillForm();
  return goOn();
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
  element("hint").disabled = state.turn === "over";
  showMoves();
  showList();
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
  if (isMoveWanted && state.legal.length) {
    element("moves").querySelector("button").focus();
    isMoveWanted = false;
  } else if (isMoveWanted && state.turn === "over") {
    element("turn-title").focus();
    isMoveWanted = false;
  }
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
  clearTimeout(timer);
  if (document.hidden) return;
  const only = state.legal.length === 1 && element("auto").checked;
  if (state.turn === "agent") timer = setTimeout(() => change("/agent"), 1000 * element("pause").value);
  else if (only) timer = setTimeout(() => pick(0), ONLY_MOVE_PAUSE);
}

function pick(number) {
  if (number < state.legal.length) change("/play", { action: state.legal[number].action });
}

async function hint() {
  if (isBusy || state.turn === "over") return;
  const version = state.version;
  try {
    const { status, answer } = await ask("/hint", { version, agent: element("hinter").value });
    if (status !== 200) return complain(answer.error);
    if (version !== state.version) return undefined;
    const { agent, means, moves } = answer;
    hinted = new Map(moves.map((move) => [move.action, { ...move, agent, means }]));
    isMoveWanted ||= isFocusOnMoves();
    show(false);
  } catch {
    complain("The server does not answer.");
  }
  return undefined;
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
  const text = element("seed").value.trim();
  const rules = { num_pawns: Number(element("pawns").value) };
  OPTIONS.forEach((name) => (rules[name] = element(name).checked));
  const seed = text === "" ? null : Number(text);
  if (seed !== null && !Number.isSafeInteger(seed)) return complain("The seed must be a number of up to 15 digits.");
  if (await change("/new", { seats: chosenSeats(), rules, seed })) element("new").open = false;
  return undefined;
}

// What the user likes stays with the browser.

function remember(id, property) {
  const field = element(id);
  const kept = localStorage.getItem(id);
  if (kept !== null) field[property] = JSON.parse(kept);
  field.addEventListener("input", () => localStorage.setItem(id, JSON.stringify(field[property])));
}

function showPause() {
  element("pause-words").textContent = `${Number(element("pause").value).toFixed(1)} seconds`;
}

const KEYS = { u: () => change("/undo"), h: hint };

document.addEventListener("keydown", (event) => {
  const isTyped = event.target.closest("select, #seed") || event.ctrlKey || event.metaKey || event.altKey;
  if (isTyped || !state) return;
  const key = event.key.toLowerCase();
  if (/^[1-4]$/.test(key)) {
    isMoveWanted = true;
    pick(Number(key) - 1);
  } else if (key in KEYS) KEYS[key]();
});

remember("pause", "value");
remember("auto", "checked");
element("pause").addEventListener("input", showPause);
element("pause").addEventListener("input", () => state && goOn());
element("auto").addEventListener("input", () => state && goOn());
element("undo").addEventListener("click", () => change("/undo"));
element("hint").addEventListener("click", hint);
element("players").addEventListener("change", changePlayers);
element("form").addEventListener("submit", begin);
document.addEventListener("visibilitychange", look);
setInterval(look, LOOKS_EACH);
showPause();
look();
