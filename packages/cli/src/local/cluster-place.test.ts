import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { recordingHost } from '../testing/recording-host.ts'
import { findHome, placeFlagText, placesHere, placeToFind, placeToStart } from './cluster-place.ts'

let directory: string
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'places-'))
})
afterEach(() => rmSync(directory, { recursive: true }))

const hostIn = (...path: readonly string[]) => {
  const workingDirectory = join(directory, ...path)
  mkdirSync(workingDirectory, { recursive: true })
  return recordingHost({ workingDirectory })
}

/** Leaves what a cluster leaves that was started there. */
function startedIn(...path: readonly string[]): void {
  mkdirSync(join(directory, ...path), { recursive: true })
  writeFileSync(join(directory, ...path, 'coracle.lock'), '')
}

describe('the place of a cluster', () => {
  it('is the home of the directory, and below it for one with a name', () => {
    const home = join(directory, '.coracle')
    expect(placeToStart(hostIn(), {})).toEqual({ name: 'coracle', directory: home, shown: '.coracle', home })
    expect(placeToStart(hostIn(), { name: 'coracle' })).toEqual(placeToStart(hostIn(), {}))
    expect(placeToStart(hostIn(), { name: 'staging' })).toEqual({
      name: 'staging',
      directory: join(home, 'clusters', 'staging'),
      shown: '.coracle/clusters/staging',
      home,
    })
  })

  it('is found from below, while a start makes one of its own', () => {
    startedIn('.coracle')
    expect(placeToFind(hostIn('deep', 'below'), { name: 'a' }).home).toBe(join(directory, '.coracle'))
    expect(placeToStart(hostIn('deep', 'below'), {}).home).toBe(join(directory, 'deep', 'below', '.coracle'))
    expect(findHome(join(directory, 'deep'))).toBe(join(directory, '.coracle'))
  })

  it('is where one says, and a home wherever it is named so', () => {
    const alone = placeToStart(hostIn(), { dataDir: 'data' })
    expect(alone).toEqual({ name: 'coracle', directory: join(directory, 'data'), shown: 'data', home: undefined })
    const home = join(directory, 'other', '.coracle')
    expect(placeToFind(hostIn(), { dataDir: 'other/.coracle' })).toMatchObject({ directory: home, home })
  })

  it('tells how it is named in commands', () => {
    const textOf = (flags: object) => placeFlagText(placeToStart(hostIn(), flags))
    expect([textOf({}), textOf({ name: 'a' }), textOf({ dataDir: 'x' })]).toEqual(['', ' --name a', ' --data-dir x'])
  })

  it.each([
    [{ name: 'Not Good' }, '"Not Good" is no name for a cluster'],
    [{ name: '../x' }, '"../x" is no name for a cluster'],
    [{ name: '' }, '"" is no name for a cluster'],
    [{ name: 'a', dataDir: 'b' }, '--name and --data-dir both say where the cluster is'],
    [{ dataDir: '' }, '--data-dir is empty'],
  ])('is refused where it cannot be: %j', (flags, message) => {
    expect(() => placeToStart(hostIn(), flags)).toThrow(message)
  })
})

describe('the places of a home', () => {
  it('are those where a cluster was started, the one without a name first', () => {
    expect(placesHere(hostIn())).toEqual([])
    startedIn('.coracle', 'clusters', 'b')
    startedIn('.coracle', 'clusters', 'a')
    mkdirSync(join(directory, '.coracle', 'clusters', 'never-started'))
    writeFileSync(join(directory, '.coracle', 'kubeconfig'), '')
    expect(placesHere(hostIn('below')).map(({ name }) => name)).toEqual(['a', 'b'])
    startedIn('.coracle')
    expect(placesHere(hostIn()).map(({ name }) => name)).toEqual(['coracle', 'a', 'b'])
  })
})
