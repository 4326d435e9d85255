import { describe, expect, it } from 'vitest'
import { rewriteUrl } from './rewrite-url.ts'

const page = { prefix: '/api/v1/namespaces/a/pods/b/proxy', host: '10.0.0.1:80', requestHost: 'localhost:8001' }

describe('an address on a page of a pod', () => {
  it.each([
    ['/x', '/api/v1/namespaces/a/pods/b/proxy/x'],
    ['/x/?q=/y#z', '/api/v1/namespaces/a/pods/b/proxy/x/?q=/y#z'],
    ['/', '/api/v1/namespaces/a/pods/b/proxy/'],
    ['http://10.0.0.1:80/x', '/api/v1/namespaces/a/pods/b/proxy/x'],
    ['//10.0.0.1:80/x', '/api/v1/namespaces/a/pods/b/proxy/x'],
    ['http://localhost:8001/x', 'http://localhost:8001/api/v1/namespaces/a/pods/b/proxy/x'],
    [
      'http://localhost:8001/api/v1/namespaces/a/pods/b/proxy/x',
      'http://localhost:8001/api/v1/namespaces/a/pods/b/proxy/x',
    ],
    ['/api/v1/namespaces/a/pods/b/proxy/x', '/api/v1/namespaces/a/pods/b/proxy/x'],
  ])('%s leads through the server: %s', (url, expected) => {
    expect(rewriteUrl(url, page)).toBe(expected)
  })

  it.each([
    'x/y',
    '../x',
    '?q=1',
    '#z',
    '',
    'http://example.com/x',
    '//example.com/x',
    'http://10.0.0.1:81/x',
    'mailto:x@example.com',
    'javascript:x()',
    '/x\u0001',
  ])('%j stays as it is', (url) => {
    expect(rewriteUrl(url, page)).toBe(url)
  })
})
