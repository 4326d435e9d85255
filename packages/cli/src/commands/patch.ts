import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { badRequest, deepEqual, type KubernetesObject, parseExactJson } from '@coracle/api'
import { findJsonFault } from '@coracle/api/json-syntax'
import { parse } from 'yaml'
import { CliError } from '../cli-error.ts'
import type { Host } from '../host.ts'
import { fieldManagerOf } from '../manifests/field-managers.ts'
import { findFault } from '../manifests/go-yaml/find-fault.ts'
import { yamlOptions } from '../manifests/parse-manifests.ts'
import { patchedHere } from '../manifests/patched-here.ts'
import { noteChangeCause } from './change-cause.ts'
import { type ChangeFlags, changeObjects, localAndServer } from './change-objects.ts'
import { refusalOfTargets } from './connection-refusals.ts'

const types = ['json', 'merge', 'strategic'] as const

export interface PatchFlags extends ChangeFlags {
  readonly type: string
  /** JSON or YAML. */
  readonly patch?: string
  readonly patchFile?: string
  readonly subresource?: string
}

/** `coracle patch TYPE NAME -p PATCH` */
export async function patch(host: Host, args: readonly string[], flags: PatchFlags): Promise<void> {
  const body = await readPatch(host, flags)
  if (flags.local === true && args.length > 0) throw new CliError('cannot specify --local and server resources')
  for (const refusal of localAndServer(flags)) throw refusal
  const type = types.find((each) => each === flags.type.toLowerCase())
  if (type === undefined) {
    throw new CliError(`--type must be one of [${types.join(' ')}], not ${JSON.stringify(flags.type)}`)
  }
  await changeObjects(
    host,
    args,
    'patch',
    {
      ...flags,
      tellsDryRun: false,
      looksAtOutputLate: true,
      startsAnew: true,
      refusalOfConnection: refusalOfTargets,
      filesAsTheyAre: true,
      needsObjects: 'patch',
    },
    async (session, target) => {
      const { resource, key, object } = target
      const { dryRun, subresource } = flags
      if (body instanceof MalformedPatch) throw dryRun === 'client' ? body.here(type) : body.ofServer(type)
      const patched =
        dryRun === 'client'
          ? namingTheField(() => patchedHere(resource, object, { type, body }))
          : await session.client.patch(
              resource,
              key,
              { type, body },
              {
                fieldManager: flags.fieldManager ?? fieldManagerOf('patch'),
                dryRun: dryRun === 'server',
                ...(subresource === undefined ? {} : { subresource }),
              },
            )
      if (dryRun === 'none')
        await noteChangeCause(session, target, flags, flags.fieldManager ?? fieldManagerOf('patch'))
      return { verb: hasChanged(object, patched) ? 'patched' : 'patched (no change)', object: patched }
    },
  )
}

async function readPatch(host: Host, { patch = '', patchFile = '' }: PatchFlags): Promise<unknown> {
  if (patch !== '' && patchFile !== '') throw new CliError('cannot specify --patch and --patch-file together')
  if (patch === '' && patchFile === '') {
    throw new CliError('must specify --patch or --patch-file containing the contents of the patch')
  }
  const text = patch !== '' ? patch : await readPatchFile(host, patchFile)
  return /^\s*\{/.test(text) ? parseJsonPatch(text) : parseYamlPatch(text)
}

/** What begins as JSON does is sent as it is by kubectl: what is wrong with it is told of each object, by whoever applies it. */
function parseJsonPatch(text: string): unknown {
  const fault = findJsonFault(text)
  return fault === undefined ? parseExactJson(text) : new MalformedPatch(fault.message)
}

/** A patch that is no JSON, and why. */
class MalformedPatch {
  readonly #fault: string

  constructor(fault: string) {
    this.#fault = fault
  }

  /** What a server says of it. */
  ofServer(type: (typeof types)[number]): Error {
    return badRequest(type === 'strategic' ? this.#fault : `error decoding patch: ${this.#fault}`)
  }

  /** What kubectl says where it is to apply it itself. */
  here(type: (typeof types)[number]): Error {
    if (type === 'json') return new CliError(this.#fault)
    return new CliError(type === 'merge' ? 'Invalid JSON Patch' : 'invalid JSON document')
  }
}

function parseYamlPatch(text: string): unknown {
  const fault = findFault(text)
  if (fault !== undefined) throw new CliError(`unable to parse ${JSON.stringify(text)}: yaml: ${fault}`)
  try {
    return parse(text, yamlOptions)
  } catch (error) {
    const [reason] = (error instanceof Error ? error.message : String(error)).split('\n')
    throw new CliError(`unable to parse ${JSON.stringify(text)}: ${reason}`)
  }
}

async function readPatchFile(host: Host, path: string): Promise<string> {
  if (path === '-') return host.readStdin()
  return readFile(resolve(host.workingDirectory, path), 'utf8').catch((error: NodeJS.ErrnoException) => {
    const why = error.code === 'ENOENT' ? `open ${path}: no such file or directory` : error.message
    throw new CliError(`unable to read patch file: ${why}`)
  })
}

/** What lacks what an operation replaces is told in words of kubectl's own. */
function namingTheField<T>(patch: () => T): T {
  try {
    return patch()
  } catch (error) {
    const [, field] = error instanceof CliError ? error.message.split('doc is missing key: ') : []
    throw field === undefined ? error : new CliError(`Object to be patched is missing field (${field})`)
  }
}

/** Whether anything but the record of who wrote differs. */
function hasChanged(before: KubernetesObject, after: KubernetesObject): boolean {
  const [a, b] = [before, after].map((object) => ({
    ...object,
    metadata: { ...object.metadata, managedFields: undefined },
  }))
  return !deepEqual(a, b)
}
