/** Bytes of JSON in UTF-8, counted without writing it out where that is easy. */
import type { Json } from './rows.js';

/** Bytes of any JSON value. */
export function jsonBytes(value: Json): number {
  return Buffer.byteLength(JSON.stringify(value));
}

/** Bytes of a text, the quotes included. */
export function textBytes(text: string): number {
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    // A control character, a quote, a backslash, or more than one byte.
    if (code < 32 || code === 34 || code === 92 || code > 126) return jsonBytes(text);
  }
  return text.length + 2;
}

/** Bytes of an integer. */
export function integerBytes(value: number): number {
  if (value < 0 || value >= 1e9) return String(value).length;
  let bytes = 1;
  for (let limit = 10; value >= limit; limit *= 10) bytes += 1;
  return bytes;
}

/** Bytes of a time: RFC 3339 in UTC with whole seconds. */
export const timeBytes: number = '"2026-11-30T18:47:05Z"'.length;
