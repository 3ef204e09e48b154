// Files that were dropped before signing in wait in the browser's own storage until somebody has signed in.

const NAME = "perfdb-parked";
/** More would be copied for too long. */
export const MOST = 512 * 1024 * 1024;

function opened() {
  return new Promise((resolve, reject) => {
    const request = indexedDB.open(NAME, 1);
    request.onupgradeneeded = () => request.result.createObjectStore("files", { autoIncrement: true });
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

async function within(mode, work) {
  const database = await opened();
  try {
    const transaction = database.transaction("files", mode);
    const request = work(transaction.objectStore("files"));
    await new Promise((resolve, reject) => {
      transaction.oncomplete = resolve;
      transaction.onerror = transaction.onabort = () => reject(transaction.error);
    });
    return request?.result;
  } finally {
    database.close();
  }
}

/** Keep files ([path, file]); false where they are too large or there is no storage. */
export async function park(files) {
  if (files.reduce((sum, [, file]) => sum + file.size, 0) > MOST) return false;
  try {
    await within("readwrite", (store) => {
      for (const [path, file] of files) store.add({ path, file });
    });
    localStorage.setItem(NAME, "1");
    return true;
  } catch {
    return false;
  }
}

/** Whether files wait; asked on every page, so it opens nothing. */
export function waits() {
  try {
    return localStorage.getItem(NAME) !== null;
  } catch {
    return false;
  }
}

/** The files that waited, which then wait no more. */
export async function unpark() {
  localStorage.removeItem(NAME);
  const kept = await within("readonly", (store) => store.getAll());
  await within("readwrite", (store) => store.clear());
  return kept.map(({ path, file }) => [path, file]);
}
