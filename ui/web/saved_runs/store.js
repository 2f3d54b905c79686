// One database of the browser, by key; where the browser refuses, nothing is kept.

const DATABASE = "sbd";
const STORE = "tabs";

/**
 * @template Result
 * @param {IDBRequest<Result>} request
 * @returns {Promise<Result>}
 */
function done(request) {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

/** @returns {Promise<IDBDatabase>} */
function open() {
  const request = indexedDB.open(DATABASE, 1);
  request.onupgradeneeded = () => request.result.createObjectStore(STORE);
  return done(request);
}

/**
 * @template Result
 * @param {IDBTransactionMode} mode
 * @param {(store: IDBObjectStore) => IDBRequest<Result>} act
 */
async function transact(mode, act) {
  const database = await open();
  try {
    return await done(act(database.transaction(STORE, mode).objectStore(STORE)));
  } finally {
    database.close();
  }
}

/**
 * @param {string} key
 * @param {object} record
 */
export async function put(key, record) {
  await transact("readwrite", (store) => store.put(record, key));
}

/**
 * @param {string} key
 * @returns {Promise<any>} undefined if there is none
 */
export async function get(key) {
  return await transact("readonly", (store) => store.get(key));
}

/** @param {string} key */
export async function remove(key) {
  await transact("readwrite", (store) => store.delete(key));
}

/** Every key and its record. */
export async function all() {
  const keys = await transact("readonly", (store) => store.getAllKeys());
  const records = await transact("readonly", (store) => store.getAll());
  return keys.map((key, index) => ({ key: String(key), record: records[index] }));
}
