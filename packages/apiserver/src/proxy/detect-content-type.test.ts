import { expect, it } from 'vitest'
import { detectContentType, detectedBytesMax } from './detect-content-type.ts'

it.each([
  ['', 'text/plain; charset=utf-8'],
  ['hello', 'text/plain; charset=utf-8'],
  ['{"a": 1}', 'text/plain; charset=utf-8'],
  ['Grüße \x1b[1m', 'text/plain; charset=utf-8'],
  [`${' '.repeat(detectedBytesMax)}\0`, 'text/plain; charset=utf-8'],
  ['\0\x01\x02', 'application/octet-stream'],
  ['<!doctype html>', 'text/html; charset=utf-8'],
  ['\n\t <html lang="en">', 'text/html; charset=utf-8'],
  ['<html', 'text/plain; charset=utf-8'],
  ['<htmlx>', 'text/plain; charset=utf-8'],
  ['<h2>', 'text/plain; charset=utf-8'],
  [' <?xml version="1.0"?>', 'text/xml; charset=utf-8'],
  [' %PDF-1.4', 'text/plain; charset=utf-8'],
  ['%PDF-1.4', 'application/pdf'],
  ['\x89PNG\r\n\x1a\n', 'image/png'],
  ['RIFF\x01\x02\x03\x04WAVEfmt ', 'audio/wave'],
  ['RIFF\x01\x02\x03\x04WAV', 'application/octet-stream'],
  ['\0\0\0\x10ftypisom\0\0\x02\0mp41', 'application/octet-stream'],
  ['\0\0\0\x14ftypisom\0\0\x02\0mp41', 'video/mp4'],
  ['\0\0\0\x10ftypisommp41', 'application/octet-stream'],
  ['\x1f\x8b\x08\0', 'application/x-gzip'],
  ['\0asm\x01', 'application/wasm'],
])('detects the type of %j: %s', (body, type) => {
  expect(detectContentType(Buffer.from(body, 'latin1'))).toBe(type)
})
