// The player on a page of its own: reads the wire lines beside it, follows the system's scheme.

const scheme = matchMedia("(prefers-color-scheme: dark)");
const followScheme = () => document.body.classList.toggle("dark", scheme.matches);
scheme.addEventListener("change", followScheme);
followScheme();
const replayed = SbdPlayer.mount(document.querySelector(".sbd-host"));
document.querySelector(".sbd-host").sbdPlayer = replayed;
replayed.push(document.querySelector("#sbd-lines").textContent);
