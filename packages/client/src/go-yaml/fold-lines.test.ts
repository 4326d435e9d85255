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

  it('ends a line behind the eightieth column, and none at it', () => {
    expect(foldLines(`${'x'.repeat(80)} y z`, '', 0)).toBe(`${'x'.repeat(80)} y\nz`)
    expect(foldLines(`${'x'.repeat(81)} y z`, '', 0)).toBe(`${'x'.repeat(81)}\ny z`)
  })

  it.each(["'", '"'])('ends none right beside quotes: %s', (quote) => {
    expect(foldLines(`${quote} a b ${quote}`, '  ', 90)).toBe(`${quote} a\n  b ${quote}`)
    expect(foldLines(`a b${quote}`, '  ', 90)).toBe(`a\n  b${quote}`)
  })

  // What kubectl 1.36 printed.
  it('ends a line at the first of several spaces within double quotes, and saves the second one', () => {
    expect(foldLines(`"${'x'.repeat(90)}  yyy zz"`, '    ', 5)).toBe(`"${'x'.repeat(90)}\n    \\ yyy zz"`)
    expect(foldLines(`"${'x'.repeat(90)}   yyy zz"`, '    ', 5)).toBe(`"${'x'.repeat(90)}\n    \\  yyy zz"`)
    const [begin, end] = ['x'.repeat(90), 'y'.repeat(74)]
    expect(foldLines(`"${begin}  ${end} z z"`, '    ', 5)).toBe(`"${begin}\n    \\ ${end} z\n    z"`)
  })

  it('leaves blocks alone', () => {
    const text = `|\n  ${words(30)}`
    expect(foldLines(text, '', 0)).toBe(text)
  })
})
