import { expect, it } from 'vitest'
import { hostLines } from './host-lines.ts'

it('gives an address its names in one line, the longest first as they come', () => {
  expect(hostLines('127.0.0.7', ['web.shop.svc', 'web'])).toEqual(['127.0.0.7\tweb.shop.svc\tweb\n'])
})

it('makes no line of an address without a name', () => {
  expect(hostLines('127.0.0.7', [])).toEqual([])
})

it('makes no line longer than musl reads', () => {
  const names = Array.from({ length: 8 }, (_, index) => `${index}`.repeat(100))
  const lines = hostLines('127.0.0.7', names)
  expect(lines.map((line) => line.split('\t').length - 1)).toEqual([4, 4])
  expect(lines.join('').match(/\d{100}/g)).toEqual(names)
  // 499 characters, their tabs, the address and the end.
  const full = ['a'.repeat(250), 'b'.repeat(249)]
  expect(hostLines('127.0.0.7', full).map((line) => line.length)).toEqual([511])
  expect(hostLines('127.0.0.7', [...full, 'c']).map((line) => line.length)).toEqual([511, 12])
})
