// Comfort, not need: without this script everything works.
// Airflow keeps its own choice between light and dark; the page in its frame follows it.
(function () {
  "use strict";
  function follow() {
    try {
      var root = window.parent.document.documentElement;
      if (window.parent === window) { return; }
      var dark = root.classList.contains("dark") || root.dataset.theme === "dark";
      document.documentElement.dataset.theme = dark ? "dark" : "light";
    } catch (error) { /* another site's frame: the machine's choice stands */ }
  }
  follow();
  try {
    if (window.parent !== window) {
      new MutationObserver(follow).observe(window.parent.document.documentElement, { attributes: true });
    }
  } catch (error) { /* the same */ }
  // A form is sent once, however often the button is pressed; coming back by the browser's button frees it.
  document.addEventListener("submit", function (event) {
    var form = event.target;
    if (form.dataset.sent) { event.preventDefault(); return; }
    form.dataset.sent = "1";
  });
  window.addEventListener("pageshow", function () {
    document.querySelectorAll("form[data-sent]").forEach(function (form) { delete form.dataset.sent; });
  });
})();
