import { expect, it } from 'vitest'
import { goUrl, joinHostPort } from './go-url.ts'

it.each([
  [{ host: ':80', path: '/healthz' }, 'http://:80/healthz'],
  [{ host: joinHostPort('fd00::1', 80), path: 'x' }, 'http://[fd00::1]:80/x'],
  [{ host: joinHostPort('web', '25%'), path: '/a b?c=d&e#f' }, 'http://web:25%25/a%20b%3Fc=d&e%23f'],
  [{ host: 'ä:1', path: '' }, 'http://%C3%A4:1'],
])('writes %o as Go does', (parts, text) => {
  expect(goUrl({ scheme: 'http', ...parts })).toBe(text)
})
