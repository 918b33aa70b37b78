// What is on screen as a file: a table as CSV or as an Excel workbook, or charts and the first lines of the table as an image.

import { colour, FONT } from "./theme.js";
import { workbook } from "./spreadsheet.js";
import { parse } from "./route.js";
import * as format from "./format.js";

const LINES = 25, WIDTH = 1600, EDGE = 48, LINE = 34;

// A sheet is {name, title, note, pictures, columns, rows, shown}; `shown` are the columns an image has room for.
export function writeCsv(sheet) {
  save(new Blob([csv(sheet)], { type: "text/csv;charset=utf-8" }), `${fileName(sheet)}.csv`);
}

export function writeExcel(sheet) {
  save(new Blob([workbook(sheet)], { type: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet" }), `${fileName(sheet)}.xlsx`);
}

// With a byte order mark, by which spreadsheets know UTF-8.
export function csv({ columns, rows }) {
  const lines = [columns, ...rows].map((row) => row.map(cell).join(","));
  return "\ufeff" + lines.join("\r\n") + "\r\n";
}

// A name that a spreadsheet would take for a formula is written as the text it is.
function cell(value) {
  if (value == null) return "";
  let text = String(value);
  if (typeof value === "string" && /^[=+\-@\t\r]/.test(text)) text = "'" + text;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

export async function writeImage(sheet) {
  const pictures = sheet.pictures.filter((picture) => picture?.width);
  const width = pictures.length > 1 ? (WIDTH - 2 * EDGE - 32) / 2 : WIDTH - 2 * EDGE;
  const heights = pictures.map((picture) => (picture.height * Math.min(width, picture.width)) / picture.width);
  const tall = rowsOf(pictures, heights);
  const rows = sheet.shown?.length === 0 ? [] : sheet.rows.slice(0, LINES);
  const canvas = document.createElement("canvas");
  canvas.width = WIDTH;
  canvas.height = EDGE + 110 + tall.reduce((sum, row) => sum + row.height + 32, 0) + (rows.length ? (rows.length + 1) * LINE + 24 : 0) + EDGE;
  const pen = canvas.getContext("2d");
  pen.fillStyle = colour("paper");
  pen.fillRect(0, 0, canvas.width, canvas.height);
  let y = heading(pen, sheet);
  for (const row of tall) {
    row.pictures.forEach((picture, i) => {
      const wide = Math.min(width, picture.width);
      pen.drawImage(picture, EDGE + i * (width + 32), y, wide, (picture.height * wide) / picture.width);
    });
    y += row.height + 32;
  }
  if (rows.length) drawTable(pen, sheet, rows, y);
  const blob = await new Promise((done) => canvas.toBlob(done, "image/png"));
  save(blob, `${fileName(sheet)}.png`);
}

function rowsOf(pictures, heights) {
  const out = [];
  for (let i = 0; i < pictures.length; i += 2) {
    out.push({ pictures: pictures.slice(i, i + 2), height: Math.max(...heights.slice(i, i + 2)) });
  }
  return out;
}

function heading(pen, sheet) {
  pen.fillStyle = colour("ink");
  pen.font = `500 40px Georgia, serif`;
  pen.fillText(clip(pen, sheet.title, WIDTH - 2 * EDGE), EDGE, EDGE + 36);
  pen.fillStyle = colour("soft");
  pen.font = `20px ${FONT}`;
  pen.fillText(clip(pen, [sheet.note, moment()].filter(Boolean).join(" · "), WIDTH - 2 * EDGE), EDGE, EDGE + 72);
  return EDGE + 110;
}

function drawTable(pen, sheet, rows, top) {
  const places = (sheet.shown ?? sheet.columns).map((name) => sheet.columns.indexOf(name)).filter((place) => place >= 0);
  const worded = places.map((place) => rows.some((row) => typeof row[place] === "string"));
  const share = (WIDTH - 2 * EDGE) / worded.reduce((sum, words) => sum + (words ? 3 : 1), 0);
  [places.map((place) => format.measureName(sheet.columns[place])), ...rows.map((row) => places.map((place) => cellText(sheet.columns[place], row[place])))]
    .forEach((cells, i) => {
      const y = top + (i + 1) * LINE;
      let x = EDGE;
      cells.forEach((text, k) => {
        const wide = share * (worded[k] ? 3 : 1);
        pen.fillStyle = colour(i ? "ink" : "soft");
        pen.font = `${i ? 18 : 16}px ${FONT}`;
        pen.textAlign = worded[k] ? "left" : "right";
        pen.fillText(clip(pen, text, wide - 16), worded[k] ? x : x + wide - 8, y - 11);
        x += wide;
      });
      pen.fillStyle = colour("line");
      pen.fillRect(EDGE, y, WIDTH - 2 * EDGE, 1);
    });
  pen.textAlign = "left";
}

export const cellText = (name, value) => (typeof value === "number" ? (Number.isInteger(value) ? format.count(value) : format.measure(name, value)) : value == null ? format.NOTHING : String(value));

function clip(pen, text, width) {
  if (pen.measureText(text).width <= width) return text;
  let most = text.length - 1;
  while (most > 1 && pen.measureText(format.shorten(text, most)).width > width) most--;
  return format.shorten(text, most);
}

const moment = () => (parse().query.get("at") ? `as of ${format.date(parse().query.get("at"))}` : "");

export function fileName(sheet) {
  const at = parse().query.get("at");
  return ["omba", sheet.name, at && at.slice(0, 10)].filter(Boolean).join("-").replace(/[^\w.-]+/g, "-");
}

function save(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}
