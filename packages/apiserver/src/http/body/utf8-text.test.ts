import { describe, expect, it } from 'vitest'
import { decodeBrokenText, decodeText } from './utf8-text.ts'

describe('bytes that are no UTF-8', () => {
  // What Go's encoding/json makes of a text in quotes with these bytes.
  it.each([
    ['61 ff 62', 'a\ufffdb'],
    ['e2 82', '\ufffd\ufffd'],
    ['e2 82 41', '\ufffd\ufffdA'],
    ['c0 80', '\ufffd\ufffd'],
    ['ed a0 80', '\ufffd\ufffd\ufffd'],
    ['f4 90 80 80', '\ufffd\ufffd\ufffd\ufffd'],
    ['f0 9f 98 80 f0 9f 98', '😀\ufffd\ufffd\ufffd'],
    ['c3 a9 e9', 'é\ufffd'],
  ])('%s are read with each replaced', (hex, text) => {
    const bytes = Buffer.from(hex.replaceAll(' ', ''), 'hex')
    expect(decodeText(bytes)).toBeUndefined()
    expect(decodeBrokenText(bytes)).toBe(text)
  })

  it.each(['', 'a', 'é', '€', '\ufeffa', '😀', '\u0800\ud7ff\ue000\uffff\u{10ffff}'])('are not %j', (text) => {
    expect(decodeText(Buffer.from(text))).toBe(text)
    expect(decodeBrokenText(Buffer.from(text))).toBe(text)
  })
})
