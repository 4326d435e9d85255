import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, expect, it } from 'vitest'
import { temporaryDirectory } from '../../testing/temporary-directory.ts'
import type { ContainerConfig } from '../runtime.ts'
import { needsView, placeMounts } from './mounts.ts'

let work: string
let volume: string

beforeEach(() => {
  work = temporaryDirectory()
  volume = temporaryDirectory()
  writeFileSync(join(volume, 'file'), 'kept')
})

const mounting = (containerPath: string, more: Partial<ContainerConfig> = {}): ContainerConfig =>
  ({ mounts: [{ name: 'data', containerPath, hostPath: volume }], ...more }) as unknown as ContainerConfig

it.each(['data', 'deep/er', './data/'])(
  'has a volume appear at %s below the directory of the container, again and again',
  (path) => {
    placeMounts(mounting(path), work)
    placeMounts(mounting(path), work)
    expect(readFileSync(join(work, path, 'file'), 'utf8')).toBe('kept')
  },
)

it('has nothing to do for a volume that is where it is wanted', () => {
  placeMounts(mounting(volume, { workingDirectory: '/' }), work)
})

it.each<readonly [string, Partial<ContainerConfig>, RegExp]>([
  ['/var/lib/data', {}, /"data" cannot be mounted at \/var\/lib\/data: .*set mountPath: var\/lib\/data,/],
  ['data', { workingDirectory: '/srv' }, /without a workingDir/],
  ['../data', {}, /outside of the directory of the container/],
  ['a/../../data', {}, /outside of the directory of the container/],
])('refuses %s %o', (path, more, message) => {
  expect(() => placeMounts(mounting(path, more), work)).toThrow(message)
})

it('says why a container has no mounts of its own', () => {
  expect(() => placeMounts(mounting('/data'), work, undefined, 'no namespaces')).toThrow(
    'volumeMount "data" cannot be mounted at /data: containers of the process runtime share the host\'s file system and cannot have mounts of their own here (no namespaces): set mountPath: data, without a workingDir,',
  )
})

it.each([
  ['/data', '/volume', true],
  ['/volume', '/volume/', false],
  ['data', '/volume', false],
  ['/data', undefined, false],
])('a volume at %s that is at %s on the host takes a view: %o', (containerPath, hostPath, expected) => {
  expect(needsView({ name: 'data', containerPath, ...(hostPath === undefined ? {} : { hostPath }) })).toBe(expected)
})

const token = (more: Partial<ContainerConfig> = {}) => {
  const containerPath = '/var/run/secrets/kubernetes.io/serviceaccount'
  const mounts = [{ name: 'kube-api-access-x7k2p', containerPath, hostPath: volume, readOnly: true }]
  return { mounts, ...more } as unknown as ContainerConfig
}

it('has the token that every pod gets appear below the directory of the container', () => {
  placeMounts(token(), work)
  expect(readFileSync(join(work, 'var/run/secrets/kubernetes.io/serviceaccount/file'), 'utf8')).toBe('kept')
})

it('leaves it out where it would be in a directory of somebody else', () => {
  placeMounts(token({ workingDirectory: '/srv' }), work)
  expect(readdirSync(work)).toEqual([])
})

it('refuses what the node agent could not bring to the node', () => {
  const config = { mounts: [{ name: 'data', containerPath: 'data' }] } as unknown as ContainerConfig
  expect(() => placeMounts(config, work)).toThrow(/no driver of this node brings volumes of its kind/)
})

it.each<readonly [string, (path: string) => void]>([
  ['a directory', (path) => mkdirSync(path)],
  ['a link to elsewhere', (path) => symlinkSync('/etc', path)],
])('does not replace %s that is in its place', (_, make) => {
  make(join(work, 'data'))
  expect(() => placeMounts(mounting('data'), work)).toThrow('there is something else in its place')
})
