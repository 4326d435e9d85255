import { describe, expect, it } from 'vitest'
import { parseGoUrl } from './go-url.ts'

const problemOf = (text: string): string => {
  try {
    parseGoUrl(text)
  } catch (error) {
    return (error as Error).message
  }
  return ''
}

describe('a URL as Go reads it', () => {
  it.each([
    ['https://a.example.com/b', { scheme: 'https', host: 'a.example.com' }],
    ['HTTPS://A:443', { scheme: 'https', host: 'A:443' }],
    ['https://[::1]:443/b', { scheme: 'https', host: '[::1]:443' }],
    ['https://', { scheme: 'https', host: '' }],
    ['https:///a', { scheme: 'https', host: '' }],
    ['https:a', { scheme: 'https', host: '' }],
    ['//a/b', { scheme: '', host: 'a' }],
    ['///a/b', { scheme: '', host: '' }],
    ['a/b:c', { scheme: '', host: '' }],
    ['', { scheme: '', host: '' }],
    ['https://a?b=c d#e%20f?', { query: 'b=c d', fragment: 'e f?' }],
    ['https://a?', { query: '', fragment: '' }],
    ['https://a', { user: undefined }],
    ['https://@a', { user: '' }],
    ['https://:@a', { user: '' }],
    ['https://u@a', { user: 'u' }],
    ['https://u:@a', { user: 'u:' }],
    ['https://u:p:q@a', { user: 'u:p%3Aq' }],
    ['https://u%c3%a9!:%70@b@a', { host: 'a', user: 'u%C3%A9%21:p%40b' }],
    ['https://a/u@b', { host: 'a', user: undefined }],
  ])('%s', (text, parts) => {
    expect(parseGoUrl(text)).toMatchObject(parts)
  })

  it.each([
    ['a\n', 'parse "a\\n": net/url: invalid control character in URL'],
    [':a', 'parse ":a": missing protocol scheme'],
    ['1a:b#c', 'parse "1a:b": first path segment in URL cannot contain colon'],
    ['https://u ser@a', 'parse "https://u ser@a": net/url: invalid userinfo'],
    ['https://a:b', 'parse "https://a:b": invalid port ":b" after host'],
    ['https://[::1', 'parse "https://[::1": missing \']\' in host'],
    ['https://[::1]a', 'parse "https://[::1]a": invalid port "a" after host'],
    ['https://a b', 'parse "https://a b": invalid character " " in host name'],
    ['https://a%20b', 'parse "https://a%20b": invalid URL escape "%20"'],
    ['https://a/%zz', 'parse "https://a/%zz": invalid URL escape "%zz"'],
    ['https://a/%', 'parse "https://a/%": invalid URL escape "%"'],
    ['https://a#%zz', 'parse "https://a#%zz": invalid URL escape "%zz"'],
  ])('%j cannot be read', (text, problem) => {
    expect(problemOf(text)).toBe(problem)
  })
})
