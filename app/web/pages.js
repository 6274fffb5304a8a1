// A list of the API by pages: all that are in view are asked for again and again.

import { get } from "./api.js";

const SIZE = 100;

export class Pages {
  constructor(path, query, signal) {
    const written = new URLSearchParams({ ...query, page_size: SIZE });
    Object.assign(this, { address: `${path}?${written}`, signal });
    this.items = [];
    this.token = null;
    this.oldest = null; // when the last row was made, once older pages are in view
    this.turn = 0;
  }

  // What newer rows push down stays in view: pages are read until the oldest row is there again.
  async refresh() {
    const turn = ++this.turn;
    const items = [];
    let token = null;
    do {
      const page = await this.page(token);
      items.push(...page.items);
      token = page.next_page_token;
    } while (token && this.oldest && Date.parse(items.at(-1).created_at) > this.oldest);
    if (turn === this.turn) Object.assign(this, { items, token });
  }

  async extend() {
    const shown = this.items.length;
    const { items } = await this.page(this.token);
    if (items.length) this.oldest = Date.parse(items.at(-1).created_at);
    await this.refresh();
    return this.items.length - shown;
  }

  page(token) {
    return get(token ? `${this.address}&page_token=${encodeURIComponent(token)}` : this.address, this.signal);
  }
}
