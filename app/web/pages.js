// A list of the API by pages: the newest is asked for again and again, older ones when wanted.

import { get } from "./api.js";

const SIZE = 100;

export class Pages {
  constructor(path, query, signal) {
    const written = new URLSearchParams({ ...query, page_size: SIZE });
    Object.assign(this, { address: `${path}?${written}`, signal });
    this.newest = [];
    this.older = [];
    this.token = null;
    this.isExtended = false;
  }

  get items() {
    return [...this.newest, ...this.older];
  }

  // What has moved off the newest page stays in view when older pages are.
  async refresh() {
    const { items, next_page_token: token } = await get(this.address, this.signal);
    if (this.isExtended) this.older = this.items.filter((item) => comesAfter(items, item));
    else this.token = token;
    this.newest = items;
  }

  async extend() {
    this.isExtended = true;
    const address = `${this.address}&page_token=${encodeURIComponent(this.token)}`;
    const { items, next_page_token: token } = await get(address, this.signal);
    this.older.push(...items);
    this.token = token;
    return items.length;
  }
}

function comesAfter(page, item) {
  const isThere = page.some(({ id }) => id === item.id);
  return page.length > 0 && !isThere && Date.parse(item.created_at) <= Date.parse(page.at(-1).created_at);
}
