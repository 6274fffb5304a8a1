// A list of the API by pages: all that are in view are asked for again and again.

/** @typedef {{ id: string, created_at: string, finished_at: string | null }} Listed */

/**
 * @template {Listed} Item
 * @typedef {{ items: Item[], next_page_token?: string | null }} Page
 */

/**
 * @template {Listed} Item
 * @typedef {(part: { page_size: number, page_token: string | null }) => Promise<Page<Item>>} Read
 */

const SIZE = 100;

/** @template {Listed} Item */
export class Pages {
  /**
   * @param {Read<Item>} read
   * @param {boolean} [byTime] whether newer rows come first
   */
  constructor(read, byTime = true) {
    this.read = read;
    this.byTime = byTime;
    /** @type {Item[]} */
    this.items = [];
    /** @type {string | null} */
    this.token = null;
    /** @type {number | null} when the last row was made, once older pages are in view */
    this.oldest = null;
    this.turn = 0;
    this.more = 0;
  }

  /** What newer rows push down stays in view: pages are read until the oldest row is there again. */
  async refresh() {
    const turn = ++this.turn;
    /** @type {Item[]} */
    const items = [];
    /** @type {string | null} */
    let token = null;
    do {
      const page = await this.page(token);
      items.push(...page.items);
      token = page.next_page_token ?? null;
    } while (token && this.isShort(items));
    if (turn !== this.turn) return;
    this.items = items;
    this.token = token;
  }

  /** @param {Item[]} items */
  isShort(items) {
    if (!this.oldest) return false;
    return this.byTime ? madeAt(items) > this.oldest : items.length < this.items.length + this.more;
  }

  async extend() {
    const shown = this.items.length;
    const { items } = await this.page(this.token);
    if (items.length) this.oldest = madeAt(items);
    this.more = items.length;
    await this.refresh();
    this.more = 0;
    return this.items.length - shown;
  }

  /** @param {string | null} token */
  page(token) {
    return this.read({ page_size: SIZE, page_token: token });
  }
}

/** @type {(items: Listed[]) => number} */
function madeAt(items) {
  return Date.parse(items.at(-1)?.created_at ?? "");
}
