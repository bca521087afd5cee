/* SPDX-License-Identifier: MIT */
/* The four views. Each is built once for a set of GPUs and then only changed: update() takes a new
 * status, tick() a new frame, draw() paints the charts. */

/* ---- all GPUs ---- */

const SORTS = [
  ['number', (gpu) => -gpu.index],
  ['GPU-Util', (gpu) => numberOf(gpu, 'gpu_util')],
  ['gap', (gpu) => gapOf(gpu)],
  ['power', (gpu) => numberOf(gpu, 'power')],
  ['memory', (gpu) => numberOf(gpu, 'mem_used')],
];

const numberOf = (gpu, key) => (hasNumber(page.value(gpu, key)) ? page.value(gpu, key).value : -Infinity);

function gapOf(gpu) {
  const busiest = busiestOf(gpu);
  return busiest ? numberOf(gpu, 'gpu_util') - busiest.value.value : -Infinity;
}

/* Lanes of a card: what GPU-Util says, SM active, and the unit that worked hardest. That one
 * changes only when another is clearly ahead. */
class Card {
  constructor(parent, index) {
    this.index = index;
    this.root = makeIn(parent, 'a', 'card');
    this.root.href = `#/gpu/${index}`;
    const head = makeIn(this.root, 'p', 'card-head');
    this.name = makeIn(head, 'span', 'card-name');
    this.verdict = makeIn(head, 'strong', 'kind');
    this.busiest = { key: 'sm_issue', role: 'real', words: '' };
    this.lanes = [{ key: 'gpu_util', role: 'claim' }, { key: 'sm_active', role: 'real' }, this.busiest].map((spec) => new Lane(this.root, index, spec, true));
    this.facts = makeIn(this.root, 'dl', 'facts');
  }

  update(gpu) {
    const shown = page.verdicts.of(gpu, page.cursorMs), best = busiestOf(gpu), current = page.value(gpu, this.busiest.key);
    if (best && (!isSound(current) || best.value.value > current.value + 0.02)) this.setBusiest(best.key);
    setText(this.name, `${gpu.index}  ${gpu.name || '(name not known)'}`);
    setText(this.verdict, shown ? shown.verdict.kind : 'no verdict yet');
    setClass(this.verdict, 'dim', !shown);
    setAttribute(this.root, 'aria-label', `GPU ${gpu.index}, ${gpu.name || 'name not known'}, ${shown ? shown.verdict.text : 'no verdict yet'}`);
    for (const lane of this.lanes) lane.update(gpu);
    const facts = [['power', 'Power'], ['temperature', 'Temp.'], ['mem_used', 'Memory']]
      .map(([key, label]) => ({ key, label, text: valueText(page.value(gpu, key)), reason: reasonText(page.value(gpu, key)) }));
    setChildren(this.facts, facts, makeFact, fillFact);
  }

  setBusiest(key) {
    this.lanes[2].root.classList.replace(`role-${this.busiest.role}`, `role-${roleOf(key)}`);
    Object.assign(this.busiest, { key, role: roleOf(key) });
  }
}

class OverviewView {
  constructor(root) {
    this.head = makeIn(root, 'div', 'view-head');
    this.title = makeIn(this.head, 'h2');
    this.tools = makeIn(this.head, 'div', 'tools');
    this.sorts = makeIn(makeIn(this.tools, 'div', 'choice'), 'span', 'choice-label', 'Sort').parentElement;
    this.sorts.setAttribute('role', 'group');
    this.sorts.setAttribute('aria-label', 'Sort by');
    this.sortButtons = SORTS.map(([name], i) => {
      const button = makeIn(this.sorts, 'button', '', name);
      button.addEventListener('click', () => page.setSort(i));
      return button;
    });
    makeScales(this.tools);
    makeFilter(this.tools, 'name, verdict or process');
    this.cards = makeIn(root, 'div', 'cards');
    this.none = makeIn(root, 'p', 'empty big');
    this.byIndex = new Map();
    this.servers = new ServersPiece(root, null);
    this.notes = new LinesPiece(root, 'Notes');
  }

  matches(gpu) {
    const shown = page.verdicts.of(gpu, null);
    const texts = [`${gpu.index} ${gpu.name || ''} ${shown ? shown.verdict.kind : ''}`, ...(gpu.processes || []).map((p) => p.name || '')];
    return texts.some((text) => page.matches(text));
  }

  update(status) {
    const key = SORTS[page.sort][1], all = status.gpus.length;
    const shown = status.gpus.filter((gpu) => this.matches(gpu)).sort((a, b) => (key(b) > key(a) ? 1 : key(b) < key(a) ? -1 : a.index - b.index));
    setText(this.title, `${all} GPU${all === 1 ? '' : 's'}${shown.length < all ? `, ${shown.length} shown` : ''}`);
    this.sortButtons.forEach((button, i) => setAttribute(button, 'aria-pressed', i === page.sort));
    setText(this.none, !all ? 'No GPU is known. On that machine, smeff doctor says why.' : !shown.length ? 'No GPU, verdict or process has this in its name (Esc: all).' : '');
    setHidden(this.none, shown.length > 0);
    this.arrange(shown);
    this.servers.update(status);
    this.notes.update(notesOf(status, null));
  }

  arrange(shown) {
    const wanted = new Set(shown.map((gpu) => gpu.index));
    for (const [index, card] of this.byIndex)
      if (!wanted.has(index)) {
        card.root.remove();
        this.byIndex.delete(index);
        forgetCharts();
      }
    shown.forEach((gpu, i) => {
      let card = this.byIndex.get(gpu.index);
      if (!card) this.byIndex.set(gpu.index, (card = new Card(this.cards, gpu.index)));
      if (this.cards.children[i] !== card.root) this.cards.insertBefore(card.root, this.cards.children[i] || null);
      card.update(gpu);
    });
  }

  tick(frame) {
    for (const gpu of frame.gpus) {
      const card = this.byIndex.get(gpu.index);
      if (card) for (const lane of card.lanes) lane.tick(gpu.values);
    }
  }

  draw(withWords) {
    for (const card of this.byIndex.values()) for (const lane of card.lanes) lane.draw(withWords);
  }
}

/* ---- one GPU ---- */

function makeHero(parent, className, label) {
  const root = makeIn(parent, 'div', `hero-number ${className}`);
  return { root, label: makeIn(root, 'p', 'hero-label', label), number: makeIn(root, 'p', 'hero-value'), words: makeIn(root, 'p', 'hero-words') };
}

class GpuView {
  constructor(root, index) {
    this.index = index;
    const head = makeIn(root, 'div', 'view-head');
    this.title = makeIn(head, 'h2');
    this.source = makeIn(head, 'p', 'source');
    const tools = makeIn(head, 'div', 'tools');
    this.chooser = makeChooser(tools, 'gpu', index);
    makeScales(tools);
    const hero = makeIn(root, 'div', 'hero');
    this.claim = makeHero(hero, 'role-claim', 'GPU-Util says');
    this.real = makeHero(hero, 'role-real', 'The busiest unit');
    const body = makeIn(root, 'div', 'gpu-body');
    this.lanesRoot = makeIn(body, 'div', 'lanes');
    const side = makeIn(body, 'aside', 'side');
    side.setAttribute('aria-label', 'What led to the verdict, board, servers and processes');
    this.verdict = new VerdictPiece(hero, side);
    this.makeLanes();
    const board = makePart(side, 'Board', 'board');
    this.board = makeIn(board.body, 'dl', 'facts');
    this.servers = new ServersPiece(side, index);
    this.processes = new ProcessesPiece(side);
    this.doubts = new LinesPiece(side, 'Doubts');
    this.notes = new LinesPiece(side, 'Notes');
  }

  makeLanes() {
    const ruler = makeIn(this.lanesRoot, 'div', 'ruler');
    this.when = makeIn(ruler, 'span', 'ruler-when');
    const axis = makeIn(ruler, 'div', 'ruler-axis');
    this.marks = [0, 1, 2].map(() => makeIn(axis, 'span'));
    this.lanes = LANES.map((spec) => {
      if (spec.group) makeIn(this.lanesRoot, 'h3', 'lane-group', spec.group);
      const lane = new Lane(this.lanesRoot, this.index, spec, false);
      watchPointer(lane.canvas);
      return lane;
    });
  }

  update(status) {
    const gpu = page.gpu(this.index);
    if (!gpu) return;
    setText(this.title, `GPU ${gpu.index}  ${gpu.name || '(name not known)'}`);
    setText(this.source, `${gpu.chip ? `${gpu.chip} · ` : ''}${sourceText(gpu)}`);
    fillChooser(this.chooser, status, 'gpu', this.index);
    this.updateHero(gpu);
    for (const lane of this.lanes) lane.update(gpu);
    this.hideRepeated();
    this.verdict.update(gpu);
    setChildren(this.board, boardFacts(gpu), makeFact, fillFact);
    this.servers.update(status);
    this.processes.update(gpu);
    this.doubts.update(doubtsOf(gpu));
    this.notes.update(notesOf(status, this.index));
    this.updateRuler();
  }

  updateHero(gpu) {
    const util = page.value(gpu, 'gpu_util'), best = busiestOf(gpu);
    setText(this.claim.number, valueText(util));
    setText(this.claim.words, hasNumber(util) ? 'of the time a kernel was there' : reasonText(util));
    setText(this.real.label, best ? `The busiest unit: ${labelOf(best.key)}` : 'The busiest unit');
    setText(this.real.number, best ? valueText(best.value) : 'not known');
    setText(this.real.words, best ? 'of what it can do' : reasonText(page.value(gpu, 'sm_issue')) || 'no unit has a sound number');
    const role = best ? roleOf(best.key) : 'real';
    for (const name of ['real', 'memory', 'link']) setClass(this.real.root, `role-${name}`, role === name);
    for (const hero of [this.claim, this.real]) setClass(hero.number, 'word', !/\d/.test(hero.number.textContent));
  }

  /* A link's second direction that is unknown for the reason of the first says nothing new. */
  hideRepeated() {
    this.lanes.forEach((lane, i) => {
      const above = this.lanes[i - 1];
      setHidden(lane.root, lane.spec.role === 'link' && above.spec.role === 'link' && !hasNumber(lane.value) && !hasNumber(above.value)
        && reasonText(lane.value) === reasonText(above.value));
    });
  }

  updateRuler() {
    const edge = page.edgeMs(), span = page.seconds * 1000;
    setText(this.when, page.isPast() ? `at ${clock(page.cursorMs)}` : 'last second');
    [1, 0.5, 0].forEach((part, i) => setText(this.marks[i], page.frozen ? clock(edge - part * span) : part ? `${duration(part * span)} ago` : 'now'));
  }

  tick(frame) {
    const gpu = frame.gpus.find((g) => g.index === this.index);
    for (const lane of this.lanes) lane.tick(gpu && gpu.values);
  }

  draw(withWords) {
    for (const lane of this.lanes) lane.draw(withWords);
  }
}

/* ---- every metric ---- */

class MetricsView {
  constructor(root, index) {
    this.index = index;
    const head = makeIn(root, 'div', 'view-head');
    this.title = makeIn(head, 'h2');
    const tools = makeIn(head, 'div', 'tools');
    this.chooser = makeChooser(tools, 'metrics', index);
    makeFilter(tools, 'metric, source or state');
    const table = makeIn(root, 'table', 'metrics');
    const row = makeIn(makeIn(table, 'thead'), 'tr');
    for (const [title, className] of [['Metric', ''], ['From', ''], ['Value', 'n'], ['p50', 'n more'], ['p95', 'n more'], ['Most', 'n more'], ['State', 'more']])
      makeIn(row, 'th', className, title).scope = 'col';
    this.table = table;
    this.none = makeIn(root, 'p', 'empty', 'No metric, source or state has this in its name (Esc: all).');
    this.groups = new Map();
    this.rows = new Map();
  }

  group(title) {
    let body = this.groups.get(title);
    if (body) return body;
    body = makeIn(this.table, 'tbody');
    const cell = makeIn(makeIn(body, 'tr', 'group'), 'th', '', title);
    cell.colSpan = 7;
    cell.scope = 'rowgroup';
    this.groups.set(title, body);
    return body;
  }

  row(key) {
    let row = this.rows.get(key);
    if (row) return row;
    const info = CATALOGUE[key] || { label: key, group: 'Other', help: '' };
    const root = makeIn(this.group(info.group), 'tr');
    root.dataset.metric = key;
    const name = makeIn(root, 'th', '', info.label);
    name.scope = 'row';
    makeIn(name, 'span', 'key', key);
    if (info.help) makeIn(name, 'span', 'help', info.help);
    row = { root, info, from: makeIn(root, 'td', 'from'), cells: ['n value', 'n more', 'n more', 'n more', 'state more'].map((c) => makeIn(root, 'td', c)), reason: makeIn(root, 'td', 'reason') };
    row.reason.colSpan = 5;
    this.rows.set(key, row);
    return row;
  }

  fill(gpu, key) {
    const row = this.row(key), value = page.value(gpu, key), known = hasNumber(value);
    const several = known && value.samples > 1;
    const text = (v) => (several && typeof v === 'number' ? format(value.unit, v, value.resolution) : '–');
    setText(row.from, value.source && value.source !== 'none' ? value.source : '–');
    const texts = known ? [valueText(value), text(value.p50), text(value.p95), text(value.max), value.state === 'ok' ? (several || value.past ? 'ok' : 'ok, one reading') : reasonText(value)] : ['', '', '', '', ''];
    texts.forEach((t, i) => setText(row.cells[i], t));
    row.cells.forEach((cell) => setHidden(cell, !known));
    setHidden(row.reason, known);
    setText(row.reason, known ? '' : reasonText(value));
    setClass(row.root, 'doubt', known && value.state !== 'ok');
    setHidden(row.root, !page.matches(`${key} ${row.info.label} ${value.source} ${value.state} ${row.info.group}`));
    if (value.counter) setAttribute(row.from, 'title', value.counter);
  }

  update(status) {
    const gpu = page.gpu(this.index);
    if (!gpu) return;
    setText(this.title, `GPU ${gpu.index}  every metric`);
    fillChooser(this.chooser, status, 'metrics', this.index);
    for (const key of Object.keys(gpu.metrics)) this.fill(gpu, key);
    for (const body of this.groups.values()) setHidden(body, ![...body.children].some((row) => row.dataset.metric && !row.hidden));
    setHidden(this.none, [...this.groups.values()].some((body) => !body.hidden));
  }

  tick() {}

  draw() {}
}

/* ---- processes ---- */

class ProcessesView {
  constructor(root) {
    const head = makeIn(root, 'div', 'view-head');
    this.title = makeIn(head, 'h2');
    makeFilter(makeIn(head, 'div', 'tools'), 'process');
    this.table = makeIn(root, 'table', 'all-processes');
    const row = makeIn(makeIn(this.table, 'thead'), 'tr');
    for (const [title, className] of [['GPU', 'n'], ['PID', 'n'], ['Memory', 'n'], ['Driver’s share of time', 'n'], ['Name', '']]) makeIn(row, 'th', className, title).scope = 'col';
    this.body = makeIn(this.table, 'tbody');
    this.words = makeIn(root, 'ul', 'empty');
  }

  update(status) {
    const all = status.gpus.flatMap((gpu) => (gpu.processes || []).map((process) => [gpu, process])).filter(([, p]) => page.matches(`${p.pid} ${p.name || ''}`));
    setText(this.title, `${all.length} process${all.length === 1 ? '' : 'es'} on GPUs`);
    setHidden(this.table, !all.length);
    setChildren(this.body, all, () => {
      const row = make('tr');
      for (const className of ['n', 'n', 'n', 'n', 'name']) makeIn(row, 'td', className);
      return row;
    }, (row, [gpu, process]) => {
      const [pid, name, memory, share] = processTexts(process);
      [String(gpu.index), pid, memory, share, name].forEach((text, i) => setText(row.children[i], text));
    });
    setLines(this.words, [...(page.frozen ? ['as of the moment of freezing'] : []),
      ...status.gpus.filter((gpu) => gpu.processes === null).map((gpu) => `GPU ${gpu.index}: its processes are not known (the driver or the recording does not tell)`)]);
  }

  tick() {}

  draw() {}
}

/* ---- what views have in common ---- */

/* Links to the same view of other GPUs; nothing where there is one. */
function makeChooser(parent) {
  const root = makeIn(parent, 'nav', 'choice');
  root.setAttribute('aria-label', 'GPU');
  return root;
}

function fillChooser(root, status, view, index) {
  setHidden(root, status.gpus.length < 2);
  setChildren(root, status.gpus, () => make('a'), (link, gpu) => {
    setText(link, `GPU ${gpu.index}`);
    setAttribute(link, 'href', `#/${view}/${gpu.index}`);
    if (gpu.index === index) setAttribute(link, 'aria-current', 'true');
    else link.removeAttribute('aria-current');
  });
}

const SCALES = [30, 60, 120, 300, 600];

function makeScales(parent) {
  const root = makeIn(parent, 'div', 'choice scales');
  root.setAttribute('role', 'group');
  root.setAttribute('aria-label', 'Time that charts show');
  for (const seconds of SCALES) {
    const button = makeIn(root, 'button', '', duration(seconds * 1000).replace(/^60 s$/, '1 min'));
    button.dataset.seconds = seconds;
    button.setAttribute('aria-pressed', seconds === page.seconds);
    button.addEventListener('click', () => page.setScale(seconds));
  }
}

function makeFilter(parent, what) {
  const input = makeIn(parent, 'input', 'filter');
  input.type = 'search';
  input.placeholder = `filter: ${what}`;
  input.setAttribute('aria-label', `Filter by ${what}`);
  input.value = page.filter;
  input.addEventListener('input', () => page.setFilter(input.value));
}

/* A pointer over a chart looks at that moment, in all lanes. */
function watchPointer(canvas) {
  canvas.addEventListener('pointermove', (event) => {
    const box = canvas.getBoundingClientRect();
    page.point((event.clientX - box.left) / box.width);
  });
  canvas.addEventListener('pointerleave', () => page.point(null));
}
