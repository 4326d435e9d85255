/** What of a body is looked at. */
export const detectedBytesMax = 512

/**
 * The media type of a body, by its first bytes: what the MIME Sniffing Standard (https://mimesniff.spec.whatwg.org) says, as far as Go's
 * servers follow it (`http.DetectContentType`).
 */
export function detectContentType(bytes: Buffer): string {
  const text = bytes.toString('latin1', 0, detectedBytesMax)
  const content = text.replace(/^[\t\n\f\r ]+/, '')
  if (htmlStart.test(content)) return 'text/html; charset=utf-8'
  if (content.startsWith('<?xml')) return 'text/xml; charset=utf-8'
  const [, type] = signatures.find(([signature]) => startsLike(text, signature)) ?? []
  if (type !== undefined) return type
  if (isMp4(bytes.subarray(0, detectedBytesMax))) return 'video/mp4'
  return isText(content) ? 'text/plain; charset=utf-8' : 'application/octet-stream'
}

const htmlStart = /^<(?:!DOCTYPE HTML|HTML|HEAD|SCRIPT|IFRAME|H1|DIV|FONT|TABLE|A|STYLE|TITLE|B|BODY|BR|P|!--)[ >]/i

/** Stands for any byte: no byte is this character. */
const any = '…'

/** How bodies of a type begin, in the order in which they are tried. */
const signatures: readonly (readonly [signature: string, type: string])[] = [
  ['%PDF-', 'application/pdf'],
  ['%!PS-Adobe-', 'application/postscript'],
  [`\xfe\xff${any.repeat(2)}`, 'text/plain; charset=utf-16be'],
  [`\xff\xfe${any.repeat(2)}`, 'text/plain; charset=utf-16le'],
  [`\xef\xbb\xbf${any}`, 'text/plain; charset=utf-8'],
  ['\0\0\x01\0', 'image/x-icon'],
  ['\0\0\x02\0', 'image/x-icon'],
  ['BM', 'image/bmp'],
  ['GIF87a', 'image/gif'],
  ['GIF89a', 'image/gif'],
  [`RIFF${any.repeat(4)}WEBPVP`, 'image/webp'],
  ['\x89PNG\r\n\x1a\n', 'image/png'],
  ['\xff\xd8\xff', 'image/jpeg'],
  [`FORM${any.repeat(4)}AIFF`, 'audio/aiff'],
  ['ID3', 'audio/mpeg'],
  ['OggS\0', 'application/ogg'],
  ['MThd\0\0\0\x06', 'audio/midi'],
  [`RIFF${any.repeat(4)}AVI `, 'video/avi'],
  [`RIFF${any.repeat(4)}WAVE`, 'audio/wave'],
  ['\x1a\x45\xdf\xa3', 'video/webm'],
  [`${any.repeat(34)}LP`, 'application/vnd.ms-fontobject'],
  ['\0\x01\0\0', 'font/ttf'],
  ['OTTO', 'font/otf'],
  ['ttcf', 'font/collection'],
  ['wOFF', 'font/woff'],
  ['wOF2', 'font/woff2'],
  ['\x1f\x8b\x08', 'application/x-gzip'],
  ['PK\x03\x04', 'application/zip'],
  ['Rar!\x1a\x07\0', 'application/x-rar-compressed'],
  ['Rar!\x1a\x07\x01\0', 'application/x-rar-compressed'],
  ['\0asm', 'application/wasm'],
]

function startsLike(text: string, signature: string): boolean {
  if (text.length < signature.length) return false
  return [...signature].every((byte, at) => byte === any || byte === text[at])
}

/** A box `ftyp` that names one of the brands that begin with `mp4`. */
function isMp4(bytes: Buffer): boolean {
  if (bytes.length < 12 || bytes.toString('latin1', 4, 8) !== 'ftyp') return false
  const size = bytes.readUInt32BE(0)
  if (size > bytes.length || size % 4 !== 0) return false
  for (let at = 8; at < size; at += 4) {
    // The version of the first brand is no brand.
    if (at !== 12 && bytes.toString('latin1', at, at + 3) === 'mp4') return true
  }
  return false
}

/** Whether there are no bytes that text does not have: controls other than white space and escape. */
function isText(content: string): boolean {
  for (let at = 0; at < content.length; at++) {
    const code = content.charCodeAt(at)
    const isSpaceOrEscape = code === 0x09 || code === 0x0a || code === 0x0c || code === 0x0d || code === 0x1b
    if (code < 0x20 && !isSpaceOrEscape) return false
  }
  return true
}
