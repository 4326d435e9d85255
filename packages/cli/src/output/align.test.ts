import { describe, expect, it } from 'vitest'
import { alignTabs } from './align.ts'

describe('alignTabs', () => {
  it('makes a column as wide as its widest cell', () => {
    expect(alignTabs('Name:\tweb\nNamespace:\tdefault\n', { padding: 2 })).toBe(
      'Name:       web\nNamespace:  default\n',
    )
  })

  it('lets a line without the cell begin a new column', () => {
    expect(alignTabs('a:\t1\nheading\nlonger:\t2\n', { padding: 1 })).toBe('a: 1\nheading\nlonger: 2\n')
  })

  it('counts text after the last tab to no column', () => {
    expect(alignTabs('a\tlong text\nb\tx\ty\n', { padding: 1 })).toBe('a long text\nb x y\n')
  })

  it('keeps a column to its smallest width', () => {
    expect(alignTabs('a\tb\n', { padding: 3, widthMin: 6 })).toBe('a     b\n')
  })
})
