"use strict";
// Starts the explorer: sizes of the picture, sources of numbers, what the address and the command line assume.

Explorer.tellWaiting = ({ asking }) => {
  const sign = Report.find("waiting");
  const seconds = Report.view?.final === false ? Report.view.seconds : null;
  sign.hidden = !asking;
  sign.textContent = seconds ? `better numbers in about ${seconds < 10 ? Math.max(1, Math.round(seconds)) : Math.round(seconds / 5) * 5} s` : "computing …";
};

// The graphs of the sample, for answers at once and for the player; the page works without them.
Explorer.loadGraphs = async () => {
  try {
    const reply = await fetch("graphs", { credentials: "omit" });
    const packed = reply.ok ? await reply.json() : null;
    if (packed === null) return;
    await Report.loadDraws(packed);
  } catch {
    return;
  }
  Explorer.offerPlayer();
};

// When something is known without assumptions, though perhaps not yet as well as it can be, or nobody is asked any more.
Explorer.firstView = () => new Promise((done) => {
  const look = () => {
    if (Report.progress.asking && Report.baseView === null) return;
    document.removeEventListener("progress", look);
    done();
  };
  document.addEventListener("progress", look);
  look();
});

Explorer.start = async () => {
  const frame = Report.find("graph");
  // The sizes of the pictures; a style in the markup is not allowed.
  for (const part of (frame.dataset.frame ?? "").split(";")) {
    const [name, value] = part.split(":");
    if (name.startsWith("--")) frame.style.setProperty(name, value);
  }
  document.addEventListener("progress", ({ detail }) => Explorer.tellWaiting(detail));
  document.addEventListener("state", ({ detail }) => {
    document.body.classList.toggle("assuming", Report.assumed(detail) > 0);
  });
  Explorer.startDetails();
  Explorer.startStatements();
  Explorer.startPlayer();
  Explorer.startSettings();
  Explorer.startSharing();
  Report.sources.push(Report.draws, Explorer.quick, Explorer.patient);
  Report.startAssuming();
  Explorer.loadGraphs();
  // What holds without assumptions comes first: changes are told against it.
  await Explorer.firstView();
  const { given, setting } = Report.data.explorer ?? Report.NOTHING;
  const opened = await Explorer.openFragment();
  if (!opened && Report.assumed({ given, setting }) > 0) Report.restore({ given: given.map(Explorer.assumptionOf), setting });
  document.documentElement.classList.add("ready");
};

Explorer.start();
