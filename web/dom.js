/* SPDX-License-Identifier: MIT */
/* Making and changing elements. What does not change is not touched, so that a page which is
 * renewed each second costs little and a screen reader is not woken. Names of processes, models and
 * GPUs are anybody's: they only ever become text nodes. */

function make(tag, className = '', text = '') {
    const element = document.createElement(tag);
    if (className) element.className = className;
    if (text) element.append(text);
    return element;
}

function makeIn(parent, tag, className, text) {
    const element = make(tag, className, text);
    parent.append(element);
    return element;
}

function setText(element, text) {
    const first = element.firstChild;
    if (first && first.nodeType === Node.TEXT_NODE && !first.nextSibling) {
        if (first.data !== text) first.data = text;
    } else element.textContent = text;
}

function setAttribute(element, name, value) {
    if (element.getAttribute(name) !== String(value)) element.setAttribute(name, value);
}

/* A custom property, which the style sheet turns into a length: inline styles are forbidden here. */
function setVariable(element, name, value) {
    if (element.style.getPropertyValue(name) !== value) element.style.setProperty(name, value);
}

const setClass = (element, name, on) => element.classList.toggle(name, on);

function setHidden(element, hidden) {
    if (element.hidden !== hidden) element.hidden = hidden;
}

/* As many children as there are items: makeItem() for new ones, fill(child, item, i) for all. */
function setChildren(parent, items, makeItem, fill) {
    while (parent.children.length > items.length) parent.lastElementChild.remove();
    while (parent.children.length < items.length) parent.append(makeItem());
    items.forEach((item, i) => fill(parent.children[i], item, i));
}

const setLines = (list, lines) => setChildren(list, lines, () => make('li'), setText);

/* A part with a heading; returns { root, body }. */
function makePart(parent, title, className = '') {
    const root = makeIn(parent, 'section', `part ${className}`.trim());
    const heading = makeIn(root, 'h3', '', title);
    heading.id = `h-${(makePart.n = (makePart.n || 0) + 1)}`;
    root.setAttribute('aria-labelledby', heading.id);
    return { root, body: makeIn(root, 'div', 'part-body') };
}
