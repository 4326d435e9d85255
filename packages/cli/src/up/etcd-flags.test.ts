import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type EtcdFlags, etcdOf } from './etcd-flags.ts'

let directory: string
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'coracle-flags-'))
  for (const name of ['ca', 'cert', 'key']) writeFileSync(join(directory, name), `${name} of etcd`)
})
afterAll(() => rmSync(directory, { recursive: true }))

describe('flags that name an etcd', () => {
  const user = { name: 'root', password: 'p:ss w@rd' }
  it.each<[string, EtcdFlags, object | undefined]>([
    ['none', {}, undefined],
    ['one server', { store: 'etcd://a:2379' }, { servers: ['a:2379'], prefix: '' }],
    ['its usual port', { store: 'etcd://a' }, { servers: ['a:2379'], prefix: '' }],
    ['several', { store: 'etcd://a:1,10.0.0.2:2,[::1]:3' }, { servers: ['a:1', '10.0.0.2:2', '[::1]:3'], prefix: '' }],
    ['a prefix', { store: 'etcd://a/team/one/' }, { servers: ['a:2379'], prefix: '/team/one' }],
    ['a prefix of its own', { store: 'etcd://a', etcdPrefix: 'team' }, { servers: ['a:2379'], prefix: '/team' }],
    ['a user', { store: 'etcd://root:p%3Ass%20w%40rd@a/x' }, { servers: ['a:2379'], prefix: '/x', user }],
    [
      "upstream's list",
      { etcdServers: ['http://a:2379', 'http://b:2379/'] },
      { servers: ['a:2379', 'b:2379'], prefix: '' },
    ],
  ])('%s', (_, flags, expected) => {
    expect(etcdOf(flags, directory)).toEqual(expected)
  })

  it('are encrypted with https, or where certificates are named', () => {
    expect(etcdOf({ etcdServers: ['https://a:2379'] }, directory)?.tls).toEqual({})
    const files = { etcdCafile: 'ca', etcdCertfile: 'cert', etcdKeyfile: 'key' }
    expect(etcdOf({ store: 'etcd://a', ...files }, directory)?.tls).toEqual({
      ca: Buffer.from('ca of etcd'),
      certificate: Buffer.from('cert of etcd'),
      key: Buffer.from('key of etcd'),
    })
  })

  it.each<[string, EtcdFlags, string | RegExp]>([
    ['another scheme', { store: 'redis://a' }, /^--store "redis:\/\/a" is not of the form etcd:/],
    ['no host', { store: 'etcd:///x' }, /is not of the form/],
    ['a mistake, keeping the password', { store: 'etcs://root:secret@a' }, /^--store "etcs:\/\/root:…@a" is not/],
    ['no port', { store: 'etcd://a:b' }, '--store: "a:b" is no HOST:PORT'],
    ['a server without a scheme', { etcdServers: ['a:2379'] }, /are not all http:\/\/HOST:PORT, nor all https/],
    ['two schemes', { etcdServers: ['http://a', 'https://b'] }, /are not all http:/],
    ['two places', { store: 'etcd://a', etcdServers: ['http://b'] }, /both name an etcd: give one/],
    ['two prefixes', { store: 'etcd://a/x', etcdPrefix: 'y' }, /both name a prefix: give one/],
    ['a certificate without its key', { store: 'etcd://a', etcdCertfile: 'cert' }, /go together/],
    ['a file that is not there', { store: 'etcd://a', etcdCafile: 'none' }, /^--etcd-cafile: ENOENT/],
    ['a prefix and no etcd', { etcdPrefix: 'x' }, '--etcd-prefix says how to reach an etcd, but --store names none'],
  ])('are refused with %s', (_, flags, message) => {
    expect(() => etcdOf(flags, directory)).toThrow(message)
  })
})
