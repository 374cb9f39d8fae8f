// The calculator of "Can it help me?": the formula of measurements/advice/model.py, which explains it. Its constants come
// from there, too (advice-data.js). Plain JavaScript, so that the page works when it is opened as a file.
"use strict";

const sureshotAdvice = (function () {
  function blockOf(asked, c) {
    if (asked.storage === "column") return 1;
    if (asked.storage === "file") {
      let unit = c.page;
      while (unit < Math.min((c.item * asked.width) / c.unitsOfRow, c.longestUnit)) unit *= 2;
      return unit / c.item;
    }
    return c.line / c.item;
  }

  function stepsOf(asked, c) {
    const block = blockOf(asked, c);
    const level = Math.log(asked.k / c.delta);
    let steps = 2 * level * (1 + 1 / (block * asked.gap ** 2));
    if (asked.bounds === "none") steps += level * (c.limit + c.limitOfOne / Math.sqrt(block));
    return Math.min(steps, Math.max(1, asked.width / block));
  }

  // Seconds of reading everything, and of a race.
  function secondsOf(asked, c) {
    const { rows, width } = asked;
    const evaluated = c.evaluated * asked.k;
    let steps = stepsOf(asked, c);
    if (asked.storage === "file") {
      const unit = c.item * blockOf(asked, c);
      const oneStep = c.request + (unit + c.page) * c.byte;
      const row = c.item * width * c.byte;
      const race = rows * steps * oneStep + evaluated * row + c.roundsOfFile * c.roundOfFile;
      return [(rows * row + c.roundOfFile) / 1e9, race / 1e9];
    }
    const byColumn = asked.storage === "column";
    steps = Math.max(steps, byColumn ? c.leastColumns : c.leastSteps);
    const row = Math.max(1, (c.item * width) / c.line) * c.nextLine;
    const oneStep = (byColumn ? (c.nextLine * c.item) / c.line : c.scatteredLine) + c.bet;
    const visit = byColumn ? c.visitOfColumn : c.visitOfRow;
    const reading = rows * (steps * oneStep + (2 + steps / c.stepsOfRound) * visit);
    const preparing = width * c.coordinate + evaluated * (byColumn ? width * c.scatteredLine : row);
    if (asked.storage === "cluster") {
      const trip = c.roundOfScheduler + c.taskOfScheduler * c.partitionsOfWorker * asked.workers;
      const race = reading / asked.workers + rows * steps * c.bet + preparing + c.trips * trip;
      return [((rows * row) / asked.workers + trip) / 1e9, race / 1e9];
    }
    return [(rows * row) / 1e9, (reading + preparing + c.rounds * c.round) / 1e9];
  }

  function advise(asked, c) {
    const share = (stepsOf(asked, c) * blockOf(asked, c)) / asked.width + (c.evaluated * asked.k) / asked.rows;
    const [everything, race] = secondsOf(asked, c);
    const gain = everything / race;
    let verdict;
    if (everything * 1e9 < c.small) verdict = "small";
    else if (gain >= c.sure) verdict = "yes";
    else if (gain >= c.leastGain) verdict = "perhaps";
    else {
      const farApart = { ...asked, gap: 1, bounds: "scan" };
      verdict = secondsOf(farApart, c)[1] * 2 < race ? "no gap" : "rounds";
    }
    const reads = verdict === "yes" || verdict === "perhaps";
    return {
      share: reads ? Math.min(1, share) : 1,
      gain: reads ? gain : 1,
      exact_seconds: everything,
      verdict,
    };
  }

  function independentGap(asked) {
    return Math.sqrt((2 * Math.log(Math.max(Math.E, asked.rows / asked.k))) / asked.width);
  }

  // The measured search that is most like this one: the same storage and bounds, and about the same size and gap.
  function mostLike(asked, measured) {
    const apart = (one) =>
      Math.abs(Math.log(one.rows / asked.rows)) +
      Math.abs(Math.log(one.width / asked.width)) +
      2 * Math.abs(Math.log(one.gap / asked.gap));
    return measured
      .filter((one) => one.storage === asked.storage && one.bounds === asked.bounds)
      .sort((one, other) => apart(one) - apart(other))[0];
  }

  return { advise, independentGap, mostLike };
})();

if (typeof module !== "undefined") module.exports = sureshotAdvice;

if (typeof document !== "undefined") {
  document.addEventListener("DOMContentLoaded", function () {
    const form = document.getElementById("advice");
    if (form === null) return;
    const { constants, measured } = SURESHOT_ADVICE;
    const field = (name) => form.elements[name];
    const show = (name, text) => (form.querySelector(`[data-shows=${name}]`).textContent = text);
    const percent = (share) => `${(100 * share).toPrecision(share >= 0.1 ? 3 : 2)} %`;
    const round = (number) => Number(number.toPrecision(2)).toLocaleString("en");
    const time = (seconds) =>
      seconds >= 1 ? `${round(seconds)} s` : seconds >= 1e-3 ? `${round(1e3 * seconds)} ms` : `${round(1e6 * seconds)} µs`;
    const bytes = (count) => {
      const unit = [["PB", 1e15], ["TB", 1e12], ["GB", 1e9], ["MB", 1e6], ["KB", 1e3]].find((one) => count >= one[1]);
      return unit ? `${round(count / unit[1])} ${unit[0]}` : `${round(count)} bytes`;
    };
    const words = {
      yes: () => "Yes.",
      perhaps: () => "Perhaps. A search looks at a sample of the rows and decides by itself whether to race.",
      "no gap": () =>
        "No. The scores are too close to each other: a search finds that out early and reads everything, at about the speed of the plain product.",
      rounds: () =>
        "No. The rounds of a search cost about as much as reading everything: longer rows would gain, or more of them. It reads everything, at about the speed of the plain product.",
      small: () => "No. The plain product takes less than a millisecond, and a call costs a part of that by itself. Use numpy.",
    };

    function answer() {
      const asked = { storage: field("storage").value, bounds: field("bounds").value };
      for (const name of ["rows", "width", "k", "workers"]) asked[name] = Number(field(name).value);
      field("workers").closest("label").hidden = asked.storage !== "cluster";
      const preset = field("apart").value;
      field("gap").closest("label").hidden = preset !== "own";
      if (preset === "independent") field("gap").value = independentRounded(asked);
      else if (preset !== "own") field("gap").value = preset;
      asked.gap = Number(field("gap").value);
      const wrong = Object.values(asked).some((one) => typeof one === "number" && !(one > 0)) || asked.k > asked.rows;
      form.dataset.verdict = wrong ? "wrong" : "";
      if (wrong) {
        show("verdict", "Expected numbers above 0, and no more results than rows.");
        for (const name of ["share", "speed", "like"]) show(name, "–");
        return;
      }
      const found = sureshotAdvice.advise(asked, constants);
      const size = constants.item * asked.rows * asked.width;
      form.dataset.verdict = found.verdict;
      show("verdict", words[found.verdict]());
      show("share", `${percent(found.share)} of ${bytes(size)} of float32`);
      const all = `reading everything takes about ${time(found.exact_seconds)}`;
      const less = found.verdict === "perhaps" ? "up to " : "about ";
      show("speed", found.gain > 1 ? `${less}${round(found.gain)} times as fast: ${all}` : `as fast as the plain product: ${all}`);
      const like = sureshotAdvice.mostLike(asked, measured);
      show(
        "like",
        like
          ? `${like.workload}, ${like.rows.toLocaleString("en")} × ${like.width.toLocaleString("en")}, gap ${round(like.gap)}: ` +
              `read ${percent(like.share)}, ${round(like.gain)} times as fast as the exact product`
          : "none",
      );
    }

    function independentRounded(asked) {
      return Number(sureshotAdvice.independentGap(asked).toPrecision(2));
    }

    form.addEventListener("input", answer);
    form.addEventListener("submit", (event) => event.preventDefault());
    answer();
  });
}
