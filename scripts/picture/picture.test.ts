import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { chosen, type Line } from './record.ts'
import { session } from './session.ts'
import { terminalSvg } from './svg.ts'

const picture = readFileSync(join(import.meta.dirname, '../../docs/picture.svg'), 'utf8')
const output = (text: string, atMs = 0): Line => ({ kind: 'output', text, atMs })

describe('docs/picture.svg', () => {
  it('shows the session as it is now (npm run picture draws it anew)', () => {
    const shown = [...picture.matchAll(/<tspan class="prompt">\$ <\/tspan>(.*)<\/text>/g)].map(([, command]) => command)
    expect(shown).toEqual(session.map(({ command }) => command))
  })

  it('needs nothing from elsewhere, and little', () => {
    expect(picture).not.toMatch(/url\(|href|<script|@import|<image/)
    expect(picture.length).toBeLessThan(12_000)
  })
})

describe('lines that are shown', () => {
  it('are the first of each pattern, with a mark where lines are left out', () => {
    const lines = ['a 1', 'a 2', 'b', '', 'c'].map((text) => output(text))
    expect(chosen(lines, [/^a/, /^b/, /^c/]).map(({ text }) => text)).toEqual(['a 1', '…', 'b', 'c'])
    expect(chosen(lines, undefined).map(({ text }) => text)).toEqual(['a 1', 'a 2', 'b', 'c'])
  })

  it('must have been printed', () => {
    expect(() => chosen([output('a')], [/b/])).toThrow('no line is /b/ in:\na')
  })
})

describe('a terminal', () => {
  it('shows text as it is, in lines that fit', () => {
    const svg = terminalSvg(
      [output('a <b> & "c"'), output(`x   ${'y'.repeat(101)}`), output('z'.repeat(200))],
      'A title',
    )
    expect(svg).toContain('>a &lt;b> &amp; &quot;c&quot;</text>')
    expect(svg).toContain(`>x  ${'y'.repeat(101)}</text>`)
    expect(svg).toContain(`>${'z'.repeat(103)}…</text>`)
  })

  it('has lines come as they came, with no pause longer than people wait', () => {
    const svg = terminalSvg([output('a', 0), output('b', 200), output('c', 60_000)], 'A title')
    expect([...svg.matchAll(/animation-delay:(\d+)ms/g)].map(([, delay]) => delay)).toEqual(['300', '500', '1700'])
    expect(svg).toContain('@media (prefers-reduced-motion:reduce){text{animation:none}}')
  })
})
