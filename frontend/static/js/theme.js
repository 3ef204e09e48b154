// Sets the remembered theme before the first paint. A classic script on purpose: modules are deferred.
(() => {
  const THEMES = ["light", "dark"];
  const remembered = () => {
    try {
      return localStorage.getItem("perfdb-theme");
    } catch {
      return null; // Storage may be forbidden; then the system's theme holds.
    }
  };
  const theme = remembered();
  if (THEMES.includes(theme)) document.documentElement.dataset.theme = theme;
})();
