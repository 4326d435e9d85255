import { runtimeClasses } from '@coracle/api'
import { createFakeClient } from '@coracle/client/testing'
import { virtualEnvironment } from '@coracle/environment'
import { describe, expect, it } from 'vitest'
import type { RuntimeHandler } from '../runtimes/runtime.ts'
import { testPod } from '../testing/pods.ts'
import { isRecursiveReadOnly } from './recursive-read-only.ts'

type Mode = 'Enabled' | 'IfPossible' | 'Disabled' | undefined

const handler = (name: string, recursiveReadOnlyMounts: boolean): RuntimeHandler => ({
  name,
  features: { recursiveReadOnlyMounts, userNamespaces: false },
})

/** Of a mount in a pod of the default handler, or of the class `other`, whose handler is `kata`. */
async function isRecursive(recursiveReadOnly: Mode, handlers?: readonly RuntimeHandler[], runtimeClassName?: string) {
  const client = createFakeClient(virtualEnvironment())
  const metadata = { name: 'other' }
  await client.create(runtimeClasses, { apiVersion: 'node.k8s.io/v1', kind: 'RuntimeClass', metadata, handler: 'kata' })
  const mount = { name: 'data', mountPath: '/data', readOnly: true, ...(recursiveReadOnly && { recursiveReadOnly }) }
  const pod = testPod(runtimeClassName === undefined ? {} : { runtimeClassName })
  return isRecursiveReadOnly(mount, pod, { client, runtime: handlers === undefined ? {} : { handlers } })
}

const handlers = [handler('', true), handler('kata', false)]
const refusal =
  'failed to resolve recursive read-only mode: volume "data" requested recursive read-only mode, but it is not supported by the runtime'

describe('a mount that is read-only', () => {
  it.each<[Mode, boolean]>([
    [undefined, false],
    ['Disabled', false],
    ['IfPossible', true],
    ['Enabled', true],
  ])('is so with what is mounted below it where its handler can, for %s: %s', async (mode, expected) => {
    expect(await isRecursive(mode, handlers)).toBe(expected)
  })

  it.each<[string, readonly RuntimeHandler[] | undefined, string | undefined]>([
    ['its handler cannot', handlers, 'other'],
    ['nothing is known of its handler', [handler('', true)], 'other'],
    ['its class is not there', handlers, 'none'],
    ['the runtime says nothing of handlers', undefined, undefined],
  ])('is so by itself alone where %s, and not mounted where that is not enough', async (_, known, runtimeClass) => {
    expect(await isRecursive('Disabled', known, runtimeClass)).toBe(false)
    expect(await isRecursive('IfPossible', known, runtimeClass)).toBe(false)
    await expect(isRecursive('Enabled', known, runtimeClass)).rejects.toThrow(refusal)
  })
})
