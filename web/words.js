/* SPDX-License-Identifier: MIT */
/* The state of the connection and the age of the data, always in sight; and what a screen reader is
 * told. */

Object.assign(page, {
    /* How old the newest sample is, by both clocks; NaN: there is none. */
    ageMs() {
        if (!this.status || !this.status.gpus.length) return NaN;
        const ages = this.status.gpus
            .filter((gpu) => typeof gpu.source.age_ms === 'number')
            .map((gpu) => endMs(gpu));
        if (!ages.length) return NaN;
        const server = this.takenMs + (nowMs() - this.receivedAt);
        return Math.max(server - Math.max(...ages, Math.min(this.trace.newestMs, server)), 0);
    },

    stateWords() {
        const age = this.ageMs(),
            old = Number.isFinite(age) ? `${duration(age)} old` : 'no sample yet';
        const feed = this.feed,
            wait = feed.retryAt - nowMs();
        const again = wait > 0 ? `trying again in ${Math.ceil(wait / 1000)} s` : 'trying now';
        switch (feed.state) {
            case 'connecting':
                return ['wait', '◌', 'connecting', ''];
            case 'denied':
                return [
                    'bad',
                    '✕',
                    `no permission: the server wants a password or a token, ${again}`,
                    old,
                ];
            case 'lost':
                return [
                    'bad',
                    '✕',
                    `connection lost${feed.why ? ` (${feed.why})` : ''}, ${again}`,
                    this.status ? old : '',
                ];
            case 'silent':
                return ['bad', '▲', 'stale: connected, but nothing comes', old];
            default:
                if (age > SILENT_MS)
                    return ['bad', '▲', 'stale: connected, but no new samples', old];
                return feed.state === 'asking'
                    ? ['half', '◐', `live, asked once a second (${feed.why})`, old]
                    : ['good', '●', 'live', old];
        }
    },

    showState() {
        const [kind, mark, words, old] = this.stateWords(),
            state = byId('state');
        setAttribute(state, 'data-kind', kind);
        setText(byId('state-mark'), mark);
        setText(byId('state-words'), words);
        setText(byId('state-age'), old ? `, ${old}` : '');
        const said = words.replace(/,? trying.*/, '');
        if (this.saidState !== undefined && this.saidState !== said) this.say(said);
        this.saidState = said;
        setText(byId('notice'), this.noticeWords());
        setHidden(byId('notice'), byId('notice').textContent === '');
        setText(byId('freeze'), this.frozen ? 'Go on' : 'Freeze');
        setAttribute(byId('freeze'), 'aria-pressed', Boolean(this.frozen));
        const wasOld = this.isOld;
        this.isOld = kind === 'bad';
        document.body.classList.toggle('is-old', this.isOld);
        if (this.isOld !== wasOld) this.update(); // "now" is no longer so, or again
    },

    noticeWords() {
        const back =
            this.cursorMs === null
                ? ''
                : `: ${clock(this.cursorMs)}, ${duration(this.edgeMs() - this.cursorMs)} before that; values are means of the second before`;
        if (this.frozen)
            return `${back ? 'Past' : 'Frozen'} at ${clock(this.frozen.edgeMs)}${back} (space goes on)`;
        const paused =
            this.status && this.status.daemon && this.status.daemon.state === 'paused'
                ? `The daemon is paused: ${this.status.daemon.reason || 'no reason was given'}`
                : '';
        return paused || this.historyWords;
    },

    /* For screen readers: only what changes rarely. */
    say(words) {
        setText(byId('announce'), words);
    },

    announceVerdict() {
        if (!this.view || this.view.name !== 'gpu') return;
        const gpu = this.gpu(this.view.index),
            shown = gpu && this.verdicts.of(gpu, null);
        if (!shown) return;
        const words = `GPU ${gpu.index}: ${shown.verdict.kind}, ${shown.verdict.text}`;
        if (this.saidVerdict && this.saidVerdict !== words) this.say(words);
        this.saidVerdict = words;
    },
});
