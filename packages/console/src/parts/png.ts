/** Creates a PNG image with a title and, below the title, an element of the page as it looks on the screen. */

const SCALE = 2;
const PAD = 24;
const TITLE = 28;

export function toPng(root: Element, title: string): Promise<Blob> {
  const box = root.getBoundingClientRect();
  const canvas = document.createElement('canvas');
  canvas.width = (box.width + 2 * PAD) * SCALE;
  canvas.height = (box.height + 2 * PAD + TITLE) * SCALE;
  const context = canvas.getContext('2d')!;
  context.scale(SCALE, SCALE);
  const { color, fontFamily } = getComputedStyle(root);
  context.fillStyle = groundOf(root);
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.fillStyle = color;
  context.font = `600 14px ${fontFamily}`;
  context.fillText(title, PAD, PAD + 6, box.width);
  context.translate(PAD - box.left, PAD + TITLE - box.top);
  context.rect(box.left - 8, box.top - 8, box.width + 16, box.height + 16);
  context.clip();
  draw(context, root);
  return new Promise((resolve, reject) => {
    canvas.toBlob(
      (blob) => (blob ? resolve(blob) : reject(new Error('The browser made no picture.'))),
      'image/png',
    );
  });
}

function groundOf(element: Element | null): string {
  if (element === null) return 'white';
  const { backgroundColor } = getComputedStyle(element);
  return isClear(backgroundColor) ? groundOf(element.parentElement) : backgroundColor;
}

const isClear = (color: string) =>
  color === 'transparent' || color === 'none' || /, 0\)$|\/ 0\)$/.test(color);

function draw(context: CanvasRenderingContext2D, element: Element): void {
  const style = getComputedStyle(element);
  if (style.display === 'none' || element.matches('.sr, title')) return;
  if (element instanceof SVGGeometryElement) drawShape(context, element, style);
  else if (element instanceof HTMLElement) drawBox(context, element, style);
  for (const child of element.childNodes) {
    if (child instanceof Text) drawWords(context, child);
    else if (child instanceof Element) draw(context, child);
  }
}

function drawShape(
  context: CanvasRenderingContext2D,
  shape: SVGGeometryElement,
  style: CSSStyleDeclaration,
): void {
  const matrix = shape.getScreenCTM();
  if (matrix === null) return;
  const path = new Path2D();
  path.addPath(pathOf(shape), matrix);
  const opacity = Number(style.opacity);
  if (!isClear(style.fill) && shape.tagName !== 'line') {
    context.globalAlpha = opacity * Number(style.fillOpacity);
    context.fillStyle = style.fill;
    context.fill(path);
  }
  if (!isClear(style.stroke)) {
    context.globalAlpha = opacity;
    context.strokeStyle = style.stroke;
    context.lineWidth = Number.parseFloat(style.strokeWidth);
    context.setLineDash(
      style.strokeDasharray === 'none' ? [] : style.strokeDasharray.split(',').map(Number.parseFloat),
    );
    context.stroke(path);
  }
  context.globalAlpha = 1;
}

/** Returns the outline of a shape. `baseVal.value` is in pixels, even for a percentage. */
function pathOf(shape: SVGGeometryElement): Path2D {
  const path = new Path2D(shape.getAttribute('d') ?? '');
  if (shape instanceof SVGLineElement) {
    path.moveTo(shape.x1.baseVal.value, shape.y1.baseVal.value);
    path.lineTo(shape.x2.baseVal.value, shape.y2.baseVal.value);
  } else if (shape instanceof SVGRectElement) {
    const { x, y, width, height, rx } = shape;
    path.roundRect(
      x.baseVal.value,
      y.baseVal.value,
      width.baseVal.value,
      height.baseVal.value,
      rx.baseVal.value,
    );
  } else if (shape instanceof SVGCircleElement) {
    path.arc(shape.cx.baseVal.value, shape.cy.baseVal.value, shape.r.baseVal.value, 0, 2 * Math.PI);
  }
  return path;
}

function drawBox(context: CanvasRenderingContext2D, element: HTMLElement, style: CSSStyleDeclaration): void {
  const { left, top, width, height } = element.getBoundingClientRect();
  if (!isClear(style.backgroundColor)) {
    context.fillStyle = style.backgroundColor;
    context.fillRect(left, top, width, height);
  }
  if (style.borderTopStyle !== 'none' && !isClear(style.borderTopColor)) {
    context.strokeStyle = style.borderTopColor;
    context.lineWidth = Number.parseFloat(style.borderTopWidth);
    context.setLineDash(style.borderTopStyle === 'dashed' ? [3, 3] : []);
    context.strokeRect(left, top, width, height);
  }
}

/** Draws each word at its position on the screen, so that lines break in the same places. */
function drawWords(context: CanvasRenderingContext2D, text: Text): void {
  const parent = text.parentElement!;
  const style = getComputedStyle(parent);
  const edge = parent.getBoundingClientRect().right + 1;
  context.font = `${style.fontWeight} ${style.fontSize} ${style.fontFamily}`;
  context.fillStyle = parent instanceof SVGElement ? style.fill : style.color;
  const range = document.createRange();
  for (const { 0: word, index } of text.data.matchAll(/\S+/g)) {
    range.setStart(text, index);
    range.setEnd(text, index + word.length);
    const { left, right, top, height, width } = range.getBoundingClientRect();
    if (width === 0 || (right > edge && parent instanceof HTMLElement)) continue;
    const { fontBoundingBoxAscent: up, fontBoundingBoxDescent: down } = context.measureText(word);
    context.fillText(word, left, top + (height - up - down) / 2 + up);
  }
}
