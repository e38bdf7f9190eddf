"use strict";
// What the page asks the server on this machine, and what it says when nobody answers.

const Explorer = {};

// A question that takes longer than this is given up; a patient one may take longer.
const WAIT = 60_000;
const PATIENT_WAIT = 600_000;
const ATTEMPTS = 7;

// A question that the server refused: what is wrong in a sentence, and at which character of the statement.
Explorer.Refusal = class extends Error {
  constructor(message, at = null, refused = false) {
    super(message);
    this.at = at;
    // The question itself is wrong: to ask it again would not help.
    this.refused = refused;
  }
};

// Nobody waits for the answer any more.
Explorer.dropped = (error) => error?.name === "AbortError";

// What is assumed, as every question carries it.
Explorer.present = (state = Report.state) => ({ given: state.given.map(Report.statementOf), setting: state.setting });

Explorer.pause = (time, signal) => new Promise((done, fail) => {
  const timer = setTimeout(done, time);
  signal?.addEventListener("abort", () => {
    clearTimeout(timer);
    fail(signal.reason);
  }, { once: true });
});

Explorer.post = async (address, body, signal, wait) => {
  const patience = AbortSignal.timeout(wait);
  try {
    return await fetch(address, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(body),
      credentials: "omit",
      cache: "no-store",
      signal: signal ? AbortSignal.any([signal, patience]) : patience,
    });
  } catch (error) {
    if (signal?.aborted) throw signal.reason;
    if (patience.aborted) throw new Explorer.Refusal("The answer takes too long.");
    Explorer.tellGone();
    throw new Explorer.Refusal("The explorer does not answer.");
  }
};

// The answer to a question, as an object. Questions that may take their time wait for each other here.
Explorer.ask = (question, body = {}, signal = null) => {
  if (!body.patient) return Explorer.askNow(question, body, signal);
  const asked = (Explorer.turns[question] ?? Promise.resolve()).then(() => {
    signal?.throwIfAborted();
    return Explorer.askNow(question, body, signal);
  });
  Explorer.turns[question] = asked.catch(() => {});
  return asked;
};

Explorer.turns = {};

// Where too many wait, it is asked again, less and less often.
Explorer.askNow = async (question, body, signal) => {
  const wait = body.patient ? PATIENT_WAIT : WAIT;
  for (let attempt = 1; ; attempt += 1) {
    const reply = await Explorer.post(`ask/${question}`, body, signal, wait);
    if (reply.status === 503 && attempt < ATTEMPTS) {
      await Explorer.pause(100 * 2 ** attempt, signal);
      continue;
    }
    return Explorer.answerOf(reply);
  }
};

Explorer.answerOf = async (reply) => {
  let answer = null;
  try {
    answer = await reply.json();
  } catch (error) {
    if (Explorer.dropped(error)) throw error;
  }
  if (reply.status === 503) throw new Explorer.Refusal("The explorer is busy. Try again in a moment.");
  // Another explorer may listen at this address by now; it does not know the token.
  if (reply.status === 403 || (reply.status === 404 && (answer?.error ?? "Not found.") === "Not found.")) Explorer.tellGone();
  else Explorer.tellBack();
  if (reply.ok && answer !== null) return answer;
  const said = typeof answer?.error === "string" ? answer.error : "The explorer could not answer this.";
  throw new Explorer.Refusal(said, Number.isInteger(answer?.at) ? answer.at : null, reply.status === 400);
};

// The server as a source of views, in two steps: what it says at once, and where that is not final, what it says when it
// may take its time.

Explorer.unfinished = null;

Explorer.quick = {
  name: "server",
  view: async (state, signal) => {
    const view = await Explorer.ask("view", Explorer.present(state), signal);
    Explorer.unfinished = view.final ? null : state;
    return view;
  },
};

Explorer.patient = {
  name: "server, patiently",
  view: async (state, signal) => {
    if (Explorer.unfinished !== state) return null;
    return Explorer.ask("view", { ...Explorer.present(state), patient: true }, signal);
  },
};

// What everybody should hear, one sentence at a time.
Explorer.say = (words) => Report.say(words);

Explorer.tellGone = () => {
  const banner = Report.find("gone");
  if (!banner.hidden) return;
  const command = Report.element("code", Report.data.explorer?.command ?? "dagpost explore MODEL");
  const again = Report.element("button", "Try again");
  again.type = "button";
  // Whoever answers anything takes the banner away.
  again.addEventListener("click", () => Explorer.ask("words").then(() => Report.refresh()).catch(() => {}));
  banner.replaceChildren("The explorer has ended. Start it again: ", command, " ", again);
  banner.hidden = false;
};

Explorer.tellBack = () => { Report.find("gone").hidden = true; };
