/* SPDX-License-Identifier: MIT */
/* What is shown: the model, the four views, and the loop. */

const THEMES = ['system', 'dark', 'light'];
const STORED = 'smeff-theme';
const CALM = matchMedia('(prefers-reduced-motion: reduce)').matches;
const DARK = matchMedia('(prefers-color-scheme: dark)');

const byId = (id) => document.getElementById(id);

const page = {
  status: null, // the newest
  frozen: null, // {edgeMs, status} while frozen
  cursorMs: null, // the moment that is looked at; null = now
  pointed: false, // the cursor is the pointer's
  seconds: 600, // that charts show
  sort: 0,
  filter: '',
  view: null, // {name, index, part}
  before: '', // where Esc goes back to
  theme: 'system',
  receivedAt: 0, // when the status came, of nowMs()
  takenMs: 0, // and when it was taken, by the clock of the server
  historyWords: '',
  trace: new Trace(),
  verdicts: new Verdicts(),
  help: byId('help'),

  /* ---- what views ask for ---- */

  shown() {
    return this.frozen ? this.frozen.status : this.status;
  },

  gpu(index) {
    const status = this.shown();
    return status && status.gpus.find((gpu) => gpu.index === index);
  },

  edgeMs() {
    return this.frozen ? this.frozen.edgeMs : this.trace.newestMs;
  },

  isPast() {
    return this.cursorMs !== null;
  },

  /* The value of now, or of the second before the cursor. What never changes is true of the past,
   * too. */
  value(gpu, key) {
    const now = gpu && gpu.metrics[key];
    if (!this.isPast() || !now || key === 'mem_total' || key === 'power_limit') return now;
    const then = this.trace.at(gpu.index, key, this.cursorMs);
    if (then) return { ...now, state: 'ok', reason: '', value: then.mean, min: then.min, max: then.max, p50: undefined, p95: undefined, samples: 2, words: undefined, past: true };
    if (!hasNumber(now)) return now;
    return { unit: now.unit, source: now.source, value: null, state: 'unsupported', reason: 'nothing is kept of that moment' };
  },

  matches(text) {
    return text.toLowerCase().includes(this.filter.toLowerCase());
  },

  /* ---- places ---- */

  names: { overview: OverviewView, gpu: GpuView, metrics: MetricsView, processes: ProcessesView },

  place() {
    const [, name, index] = /^#\/(\w+)(?:\/(\d+))?$/.exec(location.hash) || [];
    const status = this.status, gpus = status ? status.gpus.map((gpu) => gpu.index) : [];
    const wanted = Object.hasOwn(this.names, name || '') ? name : gpus.length === 1 ? 'gpu' : 'overview';
    const own = wanted === 'gpu' || wanted === 'metrics';
    if (own && !gpus.length) return { name: 'overview', index: 0 };
    const known = gpus.includes(Number(index)) && index !== undefined ? Number(index) : this.lastGpu !== undefined && gpus.includes(this.lastGpu) ? this.lastGpu : gpus[0];
    return { name: wanted, index: own ? known : 0 };
  },

  route() {
    if (!this.status) return;
    const { name, index } = this.place();
    if (this.view && this.view.name === name && this.view.index === index) return;
    if (name === 'gpu' || name === 'metrics') this.lastGpu = index;
    if (name === 'overview' || name === 'gpu') this.before = name;
    const main = byId('main');
    main.replaceChildren();
    forgetCharts();
    const root = makeIn(main, 'div', `view ${name}`);
    if (this.view && this.view.name !== name) this.filter = '';
    this.view = { name, index, part: new this.names[name](root, index), root };
    for (const link of document.querySelectorAll('[data-view]')) {
      if (link.dataset.view === name) link.setAttribute('aria-current', 'page');
      else link.removeAttribute('aria-current');
    }
    this.update();
  },

  go(name, index) {
    const hash = `#/${name}${index === undefined ? '' : `/${index}`}`;
    if (location.hash !== hash) location.hash = hash;
    else this.route();
  },

  toggle(name) {
    this.go(this.view && this.view.name === name ? this.before || 'overview' : name);
  },

  openNumber(number) {
    const gpu = this.status && this.status.gpus[number];
    if (!gpu) return false;
    this.go(this.view.name === 'metrics' ? 'metrics' : 'gpu', gpu.index);
    return true;
  },

  /* Another GPU: the focus in the overview, the view itself elsewhere; lists scroll. */
  moveGpu(by) {
    if (!this.view) return false;
    if (this.view.name === 'overview') {
      const cards = [...document.querySelectorAll('.card')];
      const at = cards.indexOf(document.activeElement);
      const next = cards[at < 0 ? 0 : Math.min(Math.max(at + by, 0), cards.length - 1)];
      if (next) next.focus();
      return Boolean(next);
    }
    if (this.view.name !== 'gpu' || this.status.gpus.length < 2) return false;
    const at = this.status.gpus.findIndex((gpu) => gpu.index === this.view.index);
    return this.openNumber(Math.min(Math.max(at + by, 0), this.status.gpus.length - 1));
  },

  back() {
    if (this.view.name === 'metrics' || this.view.name === 'processes') {
      if (this.filter) this.setFilter('');
      else this.go(this.before || 'overview');
    } else if (this.filter) this.setFilter('');
    else if (this.frozen) this.thaw();
    else this.go('overview');
  },

  toggleHelp() {
    if (this.help.open) this.help.close();
    else this.help.showModal();
  },

  /* ---- time ---- */

  freeze() {
    if (!this.status || this.frozen) return;
    this.frozen = { edgeMs: this.trace.newestMs || this.takenMs, status: this.status };
  },

  thaw() {
    this.frozen = null;
    this.cursorMs = null;
    this.pointed = false;
    this.update();
  },

  toggleFreeze() {
    if (this.frozen) return this.thaw();
    this.freeze();
    this.update();
  },

  look(columns) {
    if (!this.trace.newestMs) return;
    this.freeze();
    const step = this.seconds > GRAINS[0].seconds ? 1000 : 250, edge = this.edgeMs();
    const at = (this.cursorMs === null || this.pointed ? edge : this.cursorMs) + columns * step;
    this.pointed = false;
    this.cursorMs = at >= edge ? null : Math.max(at, this.trace.oldestMs, edge - this.seconds * 1000);
    this.update();
  },

  lookOldest() {
    if (!this.trace.newestMs) return;
    this.freeze();
    this.pointed = false;
    this.cursorMs = Math.max(this.trace.oldestMs, this.edgeMs() - this.seconds * 1000);
    this.update();
  },

  /* share: where on a chart, from 0 (oldest) to 1; null: nowhere. Without freezing. */
  point(share) {
    if (this.cursorMs !== null && !this.pointed) return; // the keys' moment stays
    const edge = this.edgeMs();
    this.pointed = share !== null && edge > 0;
    this.cursorMs = this.pointed ? edge - (1 - share) * this.seconds * 1000 : null;
    this.update();
  },

  setScale(seconds) {
    this.seconds = seconds;
    for (const button of document.querySelectorAll('[data-seconds]')) button.setAttribute('aria-pressed', Number(button.dataset.seconds) === seconds);
    this.update();
  },

  zoom(by) {
    this.setScale(SCALES[Math.min(Math.max(SCALES.indexOf(this.seconds) + by, 0), SCALES.length - 1)]);
  },

  setSort(i) {
    this.sort = i;
    this.update();
  },

  setFilter(text) {
    this.filter = text;
    const input = document.querySelector('.filter');
    if (input && input.value !== text) input.value = text;
    this.update();
  },

  focusFilter() {
    const input = document.querySelector('.filter');
    if (input) input.focus();
  },

  /* ---- dark and light ---- */

  setTheme(theme) {
    this.theme = THEMES.includes(theme) ? theme : 'system';
    const dark = this.theme === 'system' ? DARK.matches : this.theme === 'dark';
    document.documentElement.dataset.theme = dark ? 'dark' : 'light';
    setText(byId('theme'), { system: 'Auto', dark: 'Dark', light: 'Light' }[this.theme]);
    byId('theme').setAttribute('aria-label', `Colours: ${this.theme === 'system' ? 'as the system' : this.theme}`);
    readColours();
    this.draw();
  },

  nextTheme() {
    const next = THEMES[(THEMES.indexOf(this.theme) + 1) % THEMES.length];
    try {
      localStorage.setItem(STORED, next);
    } catch {} // a browser may keep nothing
    this.setTheme(next);
  },

  /* ---- what the feed gives ---- */

  taker: {
    frame(frame) {
      page.trace.addFrame(frame);
      if (page.frozen || document.hidden || !page.view) return;
      if (!page.isPast()) page.view.part.tick(frame);
      if (page.seconds <= GRAINS[0].seconds) page.draw();
    },

    status(status, streamed) {
      page.status = status;
      page.receivedAt = nowMs();
      page.takenMs = Math.max(...status.gpus.map((gpu) => endMs(gpu) + (gpu.source.age_ms || 0)), Date.parse(status.time) || 0);
      page.verdicts.take(status);
      if (!streamed || !page.trace.newestMs) page.trace.addStatus(status);
      document.documentElement.dataset.time = status.time || '';
      document.title = status.host ? `smeff – ${status.host}` : 'smeff';
      setText(byId('host'), status.host || '');
      if (!page.view || !page.viewFits()) page.route();
      else if (!page.frozen) page.update();
      page.announceVerdict();
    },

    connected() {
      page.loadHistory();
    },
  },

  /* A GPU that went away, or the first one that came. */
  viewFits() {
    const { name, index } = this.place();
    return this.view.name === name && this.view.index === index;
  },

  /* Charts begin with what the server remembers. One request after another: it is not in a hurry. */
  async loadHistory() {
    const load = (this.loading = {});
    this.historyWords = '';
    const gpus = this.status ? this.status.gpus.map((gpu) => gpu.index) : [];
    const first = this.view && this.view.index;
    gpus.sort((a, b) => (b === first) - (a === first) || a - b);
    for (const grain of [1, 0])
      for (const gpu of gpus) {
        try {
          const { seconds, step } = GRAINS[grain];
          const history = await getJson(`history.json?gpu=${gpu}&seconds=${seconds}&columns=${(seconds * 1000) / step}`);
          if (load !== this.loading) return;
          this.trace.addHistory(history, grain);
          this.draw();
        } catch (error) {
          if (load !== this.loading) return;
          this.historyWords = `charts begin now: the past could not be had (${error.message})`;
        }
      }
  },

  /* ---- showing ---- */

  update() {
    if (!this.view || document.hidden) return;
    this.view.part.update(this.shown());
    this.view.root.classList.toggle('past', this.isPast());
    this.showState();
    this.draw(true);
  },

  draw(withWords = false) {
    this.words = this.words || withWords;
    if (this.drawing || !this.view) return;
    this.drawing = true;
    requestAnimationFrame(() => {
      this.drawing = false;
      this.view.part.draw(this.words);
      this.words = false;
    });
  },

  /* How old the newest sample is, by both clocks; NaN: there is none. */
  ageMs() {
    if (!this.status || !this.status.gpus.length) return NaN;
    const ages = this.status.gpus.filter((gpu) => typeof gpu.source.age_ms === 'number').map((gpu) => endMs(gpu));
    if (!ages.length) return NaN;
    const server = this.takenMs + (nowMs() - this.receivedAt);
    return Math.max(server - Math.max(...ages, Math.min(this.trace.newestMs, server)), 0);
  },

  stateWords() {
    const age = this.ageMs(), old = Number.isFinite(age) ? `${duration(age)} old` : 'no sample yet';
    const feed = this.feed, wait = feed.retryAt - nowMs();
    const again = wait > 0 ? `trying again in ${Math.ceil(wait / 1000)} s` : 'trying now';
    switch (feed.state) {
      case 'connecting':
        return ['wait', '◌', 'connecting', ''];
      case 'denied':
        return ['bad', '✕', `no permission: the server wants a password or a token, ${again}`, old];
      case 'lost':
        return ['bad', '✕', `connection lost${feed.why ? ` (${feed.why})` : ''}, ${again}`, this.status ? old : ''];
      case 'silent':
        return ['bad', '▲', 'stale: connected, but nothing comes', old];
      default:
        if (age > SILENT_MS) return ['bad', '▲', 'stale: connected, but no new samples', old];
        return feed.state === 'asking' ? ['half', '◐', `live, asked once a second (${feed.why})`, old] : ['good', '●', 'live', old];
    }
  },

  showState() {
    const [kind, mark, words, old] = this.stateWords(), state = byId('state');
    setAttribute(state, 'data-kind', kind);
    setText(byId('state-mark'), mark);
    setText(byId('state-words'), words);
    setText(byId('state-age'), old ? `, ${old}` : '');
    setAttribute(state, 'aria-label', `${words}${old ? `, ${old}` : ''}: connect again`);
    const said = words.replace(/,? trying.*/, '');
    if (this.saidState !== undefined && this.saidState !== said) this.say(said);
    this.saidState = said;
    setText(byId('notice'), this.noticeWords());
    setHidden(byId('notice'), byId('notice').textContent === '');
    setText(byId('freeze'), this.frozen ? 'Go on' : 'Freeze');
    byId('freeze').setAttribute('aria-pressed', Boolean(this.frozen));
    document.body.classList.toggle('is-old', kind === 'bad');
  },

  noticeWords() {
    const back = this.cursorMs === null ? '' : `: ${clock(this.cursorMs)}, ${duration(this.edgeMs() - this.cursorMs)} before that; values are means of the second before`;
    if (this.frozen) return `${back ? 'Past' : 'Frozen'} at ${clock(this.frozen.edgeMs)}${back} (space goes on)`;
    const paused = this.status && this.status.daemon && this.status.daemon.state === 'paused' ? `The daemon is paused: ${this.status.daemon.reason || 'no reason was given'}` : '';
    return paused || this.historyWords;
  },

  /* For screen readers: only what changes rarely. */
  say(words) {
    setText(byId('announce'), words);
  },

  announceVerdict() {
    if (!this.view || this.view.name !== 'gpu') return;
    const gpu = this.gpu(this.view.index), shown = gpu && this.verdicts.of(gpu, null);
    if (!shown) return;
    const words = `GPU ${gpu.index}: ${shown.verdict.kind}, ${shown.verdict.text}`;
    if (this.saidVerdict && this.saidVerdict !== words) this.say(words);
    this.saidVerdict = words;
  },

  start() {
    fillHelp(this.help);
    let stored = 'system';
    try {
      stored = localStorage.getItem(STORED);
    } catch {} // as above
    this.setTheme(stored);
    DARK.addEventListener('change', () => this.setTheme(this.theme));
    addEventListener('hashchange', () => this.route());
    document.addEventListener('visibilitychange', () => this.update());
    byId('theme').addEventListener('click', () => this.nextTheme());
    byId('freeze').addEventListener('click', () => this.toggleFreeze());
    byId('help-open').addEventListener('click', () => this.toggleHelp());
    byId('help-close').addEventListener('click', () => this.help.close());
    byId('state').addEventListener('click', () => this.feed.retryNow());
    byId('skip').addEventListener('click', (event) => {
      event.preventDefault();
      byId('main').focus();
    });
    this.feed = new Feed(this.taker, CALM ? 1 : 5);
    setInterval(() => document.hidden || this.showState(), 200);
  },
};

/* The end of a GPU's newest window. */
const endMs = (gpu) => (Date.parse(gpu.start) || 0) + gpu.window_s * 1000;

page.start();
