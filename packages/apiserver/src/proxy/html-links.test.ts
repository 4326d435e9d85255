import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createLinkRewriter, htmlTagBytesMax } from './html-links.ts'

/** Marks each address. */
const mark = (url: string): string => `(${url})`

const rewritten = async (...chunks: readonly string[]): Promise<string> => {
  const source = Readable.from(chunks.map((chunk) => Buffer.from(chunk)))
  return text(source.pipe(createLinkRewriter(mark)))
}

describe('links of a page', () => {
  it.each([
    ['of an anchor', '<a class="x" href="/b">b</a>', '<a class="x" href="(/b)">b</a>'],
    ['in single quotes, and in none', `<img src='/b' usemap=/c>`, `<img src='(/b)' usemap=(/c)>`],
    ['whatever the case, with spaces', '<A HREF = "/b"/>', '<A HREF = "(/b)"/>'],
    ['several of one tag', '<video poster="/p" src="/s" title="/t">', '<video poster="(/p)" src="(/s)" title="/t">'],
    ['after a quoted end of a tag', '<a title=">" href="/b">', '<a title=">" href="(/b)">'],
    ['after a quote that quotes nothing', `<a it's href="/b">`, `<a it's href="(/b)">`],
    ['on many lines', '<form\n  action="/b"\n>', '<form\n  action="(/b)"\n>'],
    ['after letters of another alphabet', '<p>é</p><a href="/ü">', '<p>é</p><a href="(/ü)">'],
  ])('are changed: %s', async (_what, page, expected) => {
    expect(await rewritten(page)).toBe(expected)
  })

  it.each([
    ['attributes that are no addresses', '<a title="/b" data-href="/c"><div href="/d">'],
    ['end tags', '</a href="/b">'],
    ['comments', '<!-- <a href="/b"> -->'],
    ['scripts', '<script>"<a href=\'/b\'>"</script>'],
    ['titles and text areas', '<title><a href="/b"></title><textarea><a href="/b"></textarea>'],
    ['all that follows <plaintext>', '<plaintext><a href="/b"></plaintext><a href="/c">'],
    ['what is no tag', 'a < b, 1 <2 and <!doctype html> <? x ?> <'],
    ['a tag that never ends', '<a href="/b" '],
  ])('are left alone: %s', async (_what, page) => {
    expect(await rewritten(page)).toBe(page)
  })

  it('are changed again after a comment and a script', async () => {
    const page = '<!-- x --><script src="/s">1</SCRIPT ><a href="/b">'
    expect(await rewritten(page)).toBe('<!-- x --><script src="(/s)">1</SCRIPT ><a href="(/b)">')
  })

  it('are the same however the page is cut', async () => {
    const pieces = [
      '<a href="/b">',
      '<!-- <a href="/b"> -->',
      '<script>x</script>',
      '<',
      'text',
      '<img src=/c >',
      '--',
      '</',
    ]
    await fc.assert(
      fc.asyncProperty(fc.array(fc.constantFrom(...pieces)), fc.array(fc.nat(8)), async (parts, cuts) => {
        const page = parts.join('')
        const chunks: string[] = []
        let rest = page
        for (const cut of cuts) {
          chunks.push(rest.slice(0, cut))
          rest = rest.slice(cut)
        }
        expect(await rewritten(...chunks, rest)).toBe(await rewritten(page))
      }),
    )
  })

  it('are left alone from a tag on that is too long to hold', async () => {
    const page = `<a href="/b"><a title="${'x'.repeat(htmlTagBytesMax + 100)}" href="/c"><a href="/d">`
    expect(await rewritten(page.slice(0, htmlTagBytesMax + 50), page.slice(htmlTagBytesMax + 50))).toBe(
      page.replace('"/b"', '"(/b)"'),
    )
  })
})
