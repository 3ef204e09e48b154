// Files as people bring them: from drops, folders and the clipboard, each with its relative path; their size in words.

/** All files below a dropped entry. readEntries gives a hundred at a time, so it is called until it gives none. */
async function walk(entry) {
  if (entry.isFile) {
    const file = await new Promise((resolve, reject) => entry.file(resolve, reject));
    return [[entry.fullPath.replace(/^\//, ""), file]];
  }
  const reader = entry.createReader();
  const found = [];
  for (;;) {
    const batch = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
    if (!batch.length) return found;
    for (const child of batch) found.push(...(await walk(child)));
  }
}

/**
 * The files of a drop or a paste as [path, file]. Call it within the event: its data are empty afterwards.
 * @param {DataTransfer} transfer
 * @returns {Promise<[string, File][]>}
 */
export async function filesIn(transfer) {
  const items = [...transfer.items].filter((item) => item.kind === "file");
  const entries = items.map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
  const loose = [...transfer.files].map((file) => [file.name, file]);
  if (!entries.length) return loose;
  try {
    return (await Promise.all(entries.map(walk))).flat();
  } catch (error) {
    // Files that a program made up have entries that cannot be opened.
    if (loose.length === entries.length && entries.every((entry) => entry.isFile)) return loose;
    throw error;
  }
}

export function size(bytes) {
  const units = ["bytes", "KB", "MB", "GB"];
  let at = 0;
  let left = bytes;
  while (left >= 1024 && at < units.length - 1) {
    left /= 1024;
    at += 1;
  }
  return `${at ? left.toFixed(1) : left} ${units[at]}`;
}

/** Seconds as people say them. */
export function duration(seconds) {
  if (seconds < 60) return `${Math.max(1, Math.round(seconds))} s`;
  if (seconds < 3600) return `${Math.round(seconds / 60)} min`;
  return `${(seconds / 3600).toFixed(1)} h`;
}

const HEAD = 64 * 1024;

/** What tells that a file chosen tomorrow is the one that was begun today. */
export async function fingerprint(file) {
  const head = await file.slice(0, HEAD).arrayBuffer();
  return `${file.name} ${file.size} ${file.lastModified} ${(await sha256(head)) ?? plainHash(head)}`;
}

/** SHA-256 as base64; null where the browser has none, for the page came over a plain connection. */
export async function sha256(buffer) {
  if (!crypto.subtle) return null;
  const bytes = new Uint8Array(await crypto.subtle.digest("SHA-256", buffer));
  return btoa(String.fromCharCode(...bytes));
}

/** FNV-1a, 32 bits. */
function plainHash(buffer) {
  let hash = 0x811c9dc5;
  for (const byte of new Uint8Array(buffer)) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  return hash.toString(16);
}
