// A sheet as an Excel workbook, made here: names as text, numbers with their formats, widths, and a drawn interval.
//
// A workbook is a ZIP file of a few XML parts; they are stored as they are, since a page's rules are small.

const SHARES = new Set(["support", "confidence", "antecedent_support", "consequent_support", "chance", "break_even"]);
const WHOLE = new Set(["count", "collisions", "n_a", "n_b", "length"]);
const MONEY = new Set(["value", "price", "revenue"]);
const ENDS = ["expected_lift_low", "expected_lift", "expected_lift_high"];
const STEPS = 24, NARROWEST = 9, WIDEST = 60, MOST = 1_048_575;
const SPACE = "http://schemas.openxmlformats.org/", MAIN = `${SPACE}spreadsheetml/2006/main`, OFFICE = `${SPACE}officeDocument/2006/relationships`, PACKAGE = `${SPACE}package/2006/`;
const HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>';

// The bytes of a workbook with one sheet: {name, columns, rows}.
export function workbook(sheet) {
  const table = withIntervals(sheet), name = text(sheet.name.replace(/[[\]:*?/\\]/g, " ").slice(0, 31) || "sheet");
  return zip({
    "[Content_Types].xml": `${HEAD}<Types xmlns="${PACKAGE}content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/>`
      + ["workbook|sheet.main", "worksheets/sheet1|worksheet", "styles|styles"].map((one) => one.split("|")).map(([part, kind]) => `<Override PartName="/xl/${part}.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.${kind}+xml"/>`).join("") + "</Types>",
    "_rels/.rels": `${HEAD}<Relationships xmlns="${PACKAGE}relationships"><Relationship Id="r1" Type="${OFFICE}/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
    "xl/workbook.xml": `${HEAD}<workbook xmlns="${MAIN}" xmlns:r="${OFFICE}"><sheets><sheet name="${name}" sheetId="1" r:id="r1"/></sheets></workbook>`,
    "xl/_rels/workbook.xml.rels": `${HEAD}<Relationships xmlns="${PACKAGE}relationships"><Relationship Id="r1" Type="${OFFICE}/worksheet" Target="worksheets/sheet1.xml"/><Relationship Id="r2" Type="${OFFICE}/styles" Target="styles.xml"/></Relationships>`,
    "xl/styles.xml": styles(),
    "xl/worksheets/sheet1.xml": worksheet(table),
  });
}

// The columns and rows, with the interval of the lift to expect drawn in a last one where it is known.
export function withIntervals({ columns, rows }) {
  rows = rows.slice(0, MOST);
  const places = ENDS.map((name) => columns.indexOf(name));
  if (places.includes(-1)) return { columns, rows };
  const drawn = intervals(rows.map((row) => places.map((place) => row[place])));
  return { columns: [...columns, "interval"], rows: rows.map((row, i) => [...row, drawn[i]]) };
}

// Each interval (low, middle, high) in letters, all on one logarithmic scale.
export function intervals(ends) {
  const known = ends.filter((one) => one.every(Number.isFinite)), all = known.flatMap(([low, , high]) => [low, high]);
  const top = all.reduce((a, b) => Math.max(a, b), 10), bottom = Math.max(0.1, all.reduce((a, b) => Math.min(a, b), 1));
  const place = (value) => Math.round(((STEPS - 1) * Math.log(Math.min(Math.max(value, bottom), top) / bottom)) / Math.log(top / bottom));
  return ends.map((one) => {
    if (!one.every(Number.isFinite)) return null;
    const [first, dot, last] = one.map(place);
    const letters = [..." ".repeat(first) + "─".repeat(last - first + 1)];
    letters[first] = "├";
    letters[last] = "┤";
    letters[dot] = "●";
    return letters.join("");
  });
}

// Which of the formats below a column's numbers have.
export function formatOf(column) {
  if (SHARES.has(column)) return 2;
  if (WHOLE.has(column) || column.startsWith("count_")) return 3;
  return column.includes("lift") || MONEY.has(column) || column.startsWith("expected_") ? 4 : 5;
}

function styles() {
  const forms = ["0.00%", "#,##0", "#,##0.00", "0.000"];
  return `${HEAD}<styleSheet xmlns="${MAIN}"><numFmts count="${forms.length}">${forms.map((form, i) => `<numFmt numFmtId="${200 + i}" formatCode="${form}"/>`).join("")}</numFmts>`
    + '<fonts count="3"><font><sz val="11"/><name val="Calibri"/></font><font><b/><sz val="11"/><name val="Calibri"/></font><font><sz val="11"/><color rgb="FF2F6F8F"/><name val="Consolas"/></font></fonts>'
    + '<fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills><borders count="1"><border/></borders><cellStyleXfs count="1"><xf/></cellStyleXfs>'
    + `<cellXfs count="${3 + forms.length}"><xf/><xf fontId="1" applyFont="1"/>${forms.map((_, i) => `<xf numFmtId="${200 + i}" applyNumberFormat="1"/>`).join("")}<xf fontId="2" applyFont="1"/></cellXfs></styleSheet>`;
}

function worksheet({ columns, rows }) {
  const drawn = columns.indexOf("interval");
  const cell = (value, column, row) => {
    const at = `${letters(column)}${row}`;
    if (value == null || value === "" || (typeof value === "number" && !Number.isFinite(value))) return "";
    if (typeof value === "number") return `<c r="${at}" s="${formatOf(columns[column])}"><v>${value}</v></c>`;
    return `<c r="${at}" t="inlineStr"${row === 1 ? ' s="1"' : column === drawn ? ' s="6"' : ""}><is><t xml:space="preserve">${text(value)}</t></is></c>`;
  };
  const lines = [columns.map((name) => name.replaceAll("_", " ")), ...rows].map((values, i) => `<row r="${i + 1}">${values.map((value, k) => cell(value, k, i + 1)).join("")}</row>`);
  const last = letters(columns.length - 1);
  return `${HEAD}<worksheet xmlns="${MAIN}"><sheetViews><sheetView workbookViewId="0"><pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/></sheetView></sheetViews>`
    + `<cols>${columns.map((name, k) => `<col min="${k + 1}" max="${k + 1}" width="${width(name, rows.map((row) => row[k]))}" customWidth="1"/>`).join("")}</cols>`
    + `<sheetData>${lines.join("")}</sheetData><autoFilter ref="A1:${last}${rows.length + 1}"/></worksheet>`;
}

// As wide as its longest text; numbers as wide as the longest word of their header.
export function width(name, values) {
  const longest = values.reduce((most, value) => (typeof value === "string" ? Math.max(most, value.length) : most), 0);
  return Math.min(WIDEST, Math.max(NARROWEST, 2 + Math.max(...name.split("_").map((word) => word.length)), longest + 1));
}

// The letters of a column: A, …, Z, AA.
export const letters = (column) => (column < 26 ? "" : letters(Math.floor(column / 26) - 1)) + String.fromCharCode(65 + (column % 26));

// What XML can hold, with its own signs spelled out.
const text = (value) => String(value).replace(/[^\t\n\r\x20-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, "").replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");

const CRC = Uint32Array.from({ length: 256 }, (_, n) => {
  for (let k = 0; k < 8; k++) n = n & 1 ? (n >>> 1) ^ 0xedb88320 : n >>> 1;
  return n;
});

export function crc32(bytes) {
  let crc = -1;
  for (const byte of bytes) crc = CRC[(crc ^ byte) & 255] ^ (crc >>> 8);
  return (crc ^ -1) >>> 0;
}

// A ZIP file of some texts by name, stored as they are. The first of January 1980 is its date: the same sheet, the same bytes.
export function zip(parts) {
  const encoder = new TextEncoder(), out = [], directory = [];
  let at = 0;
  const put = (list, bytes) => { list.push(bytes); return bytes.length; };
  for (const [name, content] of Object.entries(parts)) {
    const called = encoder.encode(name), bytes = encoder.encode(content);
    const common = [20, 0x0800, 0, 0, 0x21].flatMap(two).concat(four(crc32(bytes)), four(bytes.length), four(bytes.length), two(called.length), two(0));
    put(directory, Uint8Array.from([...four(0x02014b50), ...two(20), ...common, ...two(0), ...two(0), ...two(0), ...four(0), ...four(at), ...called]));
    at += put(out, Uint8Array.from([...four(0x04034b50), ...common, ...called])) + put(out, bytes);
  }
  const size = directory.reduce((sum, bytes) => sum + bytes.length, 0), n = directory.length;
  const end = Uint8Array.from([...four(0x06054b50), ...two(0), ...two(0), ...two(n), ...two(n), ...four(size), ...four(at), ...two(0)]);
  const file = new Uint8Array(at + size + end.length);
  let place = 0;
  for (const bytes of [...out, ...directory, end]) {
    file.set(bytes, place);
    place += bytes.length;
  }
  return file;
}

const two = (n) => [n & 255, (n >>> 8) & 255];
const four = (n) => [...two(n), ...two(n >>> 16)];
