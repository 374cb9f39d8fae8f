// Moves the race of the front page once more.
document.addEventListener("DOMContentLoaded", function () {
  const button = document.getElementById("race-again");
  const race = document.querySelector("svg.race");
  if (button === null || race === null) return;
  if (matchMedia("(prefers-reduced-motion: reduce)").matches) button.hidden = true;
  button.addEventListener("click", function () {
    race.classList.remove("moving");
    void race.getBoundingClientRect(); // the end is shown in between, or nothing would begin again
    race.classList.add("moving");
  });
});
