import { describe, expect, it } from 'vitest'
import { fileTokensMax, parseTokenFile } from './token-file.ts'

describe('a file of static tokens', () => {
  it('says whose each token is', () => {
    const text = 'abc,anna,17,"dev,ops"\r\ndef,ben,,ops\n\nghi,"O""Hara, C.",18\n'
    expect(parseTokenFile(text)).toEqual([
      { token: 'abc', user: { name: 'anna', uid: '17', groups: ['dev', 'ops'] } },
      { token: 'def', user: { name: 'ben', groups: ['ops'] } },
      { token: 'ghi', user: { name: 'O"Hara, C.', uid: '18', groups: [] } },
    ])
  })

  it('has no empty token, and takes the later of two lines for one', () => {
    const text = ',nobody,\nabc,anna,\nabc,ben,,ops,more'
    expect(parseTokenFile(text)).toEqual([{ token: 'abc', user: { name: 'ben', groups: ['ops'] } }])
  })

  it.each([
    ['abc,anna,\ndef,ben', /^line 2: must have the columns token, user name and user uid/],
    ['abc', /^line 1: must have the columns/],
    ['abc,anna,1,"dev', /^line 1, column 4: a quote may only stand around a whole field$/],
    ['abc,an"na,1', /^line 1, column 2: a quote/],
    ['abc,"anna"x,1', /^line 1, column 2: a quote/],
    [
      Array.from({ length: fileTokensMax + 1 }, (_, index) => `token${index},bot,`).join('\n'),
      /must have 1000 at most$/,
    ],
  ])('%.30j is refused', (text, message) => {
    expect(() => parseTokenFile(text)).toThrow(message)
  })
})
