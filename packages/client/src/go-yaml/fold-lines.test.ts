import { describe, expect, it } from 'vitest'
import { foldLines } from './fold-lines.ts'

const words = (count: number) => Array.from({ length: count }, (_, index) => `word${index % 10}`).join(' ')

describe('foldLines', () => {
  it('leaves alone what fits', () => {
    expect(foldLines(words(5), '  ', 10)).toBe(words(5))
  })

  it('ends a line at the first space behind the eightieth column', () => {
    const folded = foldLines(words(20), '    ', 10)
    expect(folded.split('\n').map((line) => line.length)).toEqual([71, 51])
    expect(folded.replaceAll('\n    ', ' ')).toBe(words(20))
  })

  it('ends none where there are several spaces, or none', () => {
    const text = `${'x'.repeat(100)}  ${'y'.repeat(20)}`
    expect(foldLines(text, '', 0)).toBe(text)
  })

  it('ends none right beside quotes', () => {
    const text = `'${'x'.repeat(100)} '`
    expect(foldLines(text, '', 0)).toBe(text)
  })

  it('leaves blocks alone', () => {
    const text = `|\n  ${words(30)}`
    expect(foldLines(text, '', 0)).toBe(text)
  })
})
