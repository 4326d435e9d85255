import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { temporaryDirectory } from '../testing/temporary-directory.ts'
import { PullRecords } from './pull-records.ts'

const secret = (name: string, credentialHash = name) => ({ uid: name, namespace: 'default', name, credentialHash })

it('is forgotten of images that are gone, and not of those that have come since it was looked', async () => {
  const directory = temporaryDirectory()
  const records = new PullRecords(directory)
  await records.pulled('a/b:1', 'sha256:1', secret('one'))
  await records.pulled('a/b:2', 'sha256:2', secret('one'))
  const count = () => readdirSync(join(directory, 'pulled')).length
  await records.prune(new Set(), 0)
  expect(count()).toBe(2)
  await records.prune(new Set(['sha256:2']), Number.MAX_SAFE_INTEGER)
  expect(count()).toBe(1)
  expect(await records.mayUse('a/b:2', 'sha256:2', async () => [secret('one')])).toBe(true)
})

it('is for each name of an image apart, and for all once it was to be had without a secret', async () => {
  const records = new PullRecords(temporaryDirectory())
  const mayUse = (image: string) => records.mayUse(image, 'sha256:1', async () => [])
  await records.pulled('private.example/web:1', 'sha256:1', secret('one'))
  await records.pulled('public.example/web:1', 'sha256:1', undefined)
  expect([await mayUse('private.example/web:2'), await mayUse('public.example/web:2')]).toEqual([false, true])
  await records.pulled('private.example/web:1', 'sha256:1', undefined)
  await records.pulled('private.example/web:1', 'sha256:1', secret('one'))
  expect(await mayUse('private.example/web:1')).toBe(true)
})

it('that cannot be read lets nobody have the image without its registry', async () => {
  const directory = temporaryDirectory()
  const records = new PullRecords(directory)
  await records.pulled('a/b:1', 'sha256:1', undefined)
  for (const name of readdirSync(join(directory, 'pulled'))) writeFileSync(join(directory, 'pulled', name), '{')
  expect(await records.mayUse('a/b:1', 'sha256:1', async () => [secret('one')])).toBe(false)
})

it('of a pull that is under way says that there is one until the last of them has ended', async () => {
  const records = new PullRecords(temporaryDirectory())
  const mayUse = () => records.mayUse('a/b:1', 'sha256:1', async () => [])
  await records.begins('a/b:1')
  await records.begins('a/b:1')
  await records.ends('a/b:1')
  expect(await mayUse()).toBe(false)
  await records.ends('a/b:1')
  expect(await mayUse()).toBe(true)
})
