import type { Stats } from 'node:fs'
import { chmod, chown, mkdir, open, readFile, realpath, rename, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, isAbsolute, relative, resolve } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import {
  type KubeconfigDocument,
  type KubeconfigEntry,
  type KubeconfigFields,
  type KubeconfigList,
  kubeconfigLists,
  mergeKubeconfigDocuments,
  parseKubeconfigDocument,
} from '@coracle/client'
import { CliError } from '../cli-error.ts'
import { serialize } from '../output/serialize.ts'
import { defaultKubeconfigFile, type KubeconfigFiles } from './kubeconfig-files.ts'
import { kubeconfigValue } from './kubeconfig-form.ts'

const lists = Object.keys(kubeconfigLists) as readonly KubeconfigList[]

/** The files as one; those that are not there say nothing. Paths in it are as written. */
export async function readKubeconfigs({ paths }: KubeconfigFiles): Promise<KubeconfigDocument> {
  return mergeKubeconfigDocuments(await Promise.all(paths.map(readOne)))
}

async function readOne(path: string): Promise<KubeconfigDocument> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return ''
    throw new CliError(`cannot read ${path}: ${error.message}`)
  })
  return parseKubeconfigDocument(text, path)
}

/**
 * Changes what the files say as one, and writes those in which something is different, as kubectl does: an entry is changed where
 * it stands, and a new one, like the current context, goes to the first file that is there, or else the last. Others that
 * use kubectl's locks wait for nothing: it fails where a file is locked.
 */
export async function editKubeconfigs(
  files: KubeconfigFiles,
  edit: (document: KubeconfigDocument) => KubeconfigDocument,
): Promise<void> {
  const target = await defaultKubeconfigFile(files)
  await withLocks([...new Set([...files.paths, target])], async () => {
    const before = await readKubeconfigs(files)
    const after = edit(before)
    const changes = new ChangedFiles()
    for (const list of lists) {
      for (const [name, entry] of after[list]) {
        if (isDeepStrictEqual(before[list].get(name)?.fields, entry.fields)) continue
        await changes.set(entry.path ?? target, list, name, entry)
      }
      for (const [name, { path }] of before[list]) {
        if (!after[list].has(name)) await changes.delete(path ?? target, list, name)
      }
    }
    if (after.currentContext !== before.currentContext) {
      const path = after.currentContext === undefined ? await fileOfCurrentContext(files) : target
      await changes.setCurrentContext(path ?? target, after.currentContext)
    }
    const { preferences } = after.others
    if (!isDeepStrictEqual(preferences, before.others.preferences)) await changes.setPreferences(target, preferences)
    await changes.write()
  })
}

/** Of several files that name a current context, the first counts. */
async function fileOfCurrentContext({ paths }: KubeconfigFiles): Promise<string | undefined> {
  for (const path of paths) if ((await readOne(path)).currentContext !== undefined) return path
  return undefined
}

/** Files that are to be written, as they will be. */
class ChangedFiles {
  readonly #documents = new Map<string, KubeconfigDocument>()

  async set(path: string, list: KubeconfigList, name: string, { fields }: KubeconfigEntry): Promise<void> {
    const document = await this.#document(path)
    const entry = { fields: withRelativePaths(fields, path), path }
    this.#documents.set(path, { ...document, [list]: new Map([...document[list], [name, entry]]) })
  }

  async delete(path: string, list: KubeconfigList, name: string): Promise<void> {
    const document = await this.#document(path)
    const others = new Map([...document[list]].filter(([each]) => each !== name))
    this.#documents.set(path, { ...document, [list]: others })
  }

  async setCurrentContext(path: string, currentContext: string | undefined): Promise<void> {
    this.#documents.set(path, { ...(await this.#document(path)), currentContext })
  }

  async setPreferences(path: string, preferences: unknown): Promise<void> {
    const document = await this.#document(path)
    this.#documents.set(path, { ...document, others: { ...document.others, preferences } })
  }

  async write(): Promise<void> {
    for (const [path, document] of this.#documents) await writeKubeconfig(path, document)
  }

  async #document(path: string): Promise<KubeconfigDocument> {
    return this.#documents.get(path) ?? readOne(path)
  }
}

/**
 * Writes a kubeconfig whole or not at all, where a link points to. One that is there keeps its owner and who may read it, as with kubectl:
 * `sudo` takes it from nobody. A new one can be read by its owner alone.
 */
export async function writeKubeconfig(path: string, document: KubeconfigDocument): Promise<void> {
  const target = await realpath(path).catch(() => path)
  await mkdir(dirname(target), { recursive: true, mode: 0o750 })
  const text = await serialize(kubeconfigValue(document), 'yaml')
  const former = await stat(target).catch(() => undefined)
  const partial = `${target}.${process.pid}.partial`
  await rm(partial, { force: true })
  try {
    await writeFile(partial, text, { mode: 0o600, flag: 'wx' })
    if (former === undefined || (await takeAfter(partial, former))) await rename(partial, target)
    // Whoever may not give files away may still write into this one.
    else await writeFile(target, text)
  } finally {
    await rm(partial, { force: true })
  }
}

/** Gives a file the owner and the rights of another. Resolves to false where that is not allowed. */
async function takeAfter(path: string, { mode, uid, gid }: Stats): Promise<boolean> {
  const own = await stat(path)
  if (own.uid !== uid || own.gid !== gid) {
    const isGiven = await chown(path, uid, gid).then(
      () => true,
      () => false,
    )
    if (!isGiven) return false
  }
  // The umask may have taken rights that the file had.
  await chmod(path, mode & 0o777)
  return true
}

const pathFields = ['certificate-authority', 'client-certificate', 'client-key', 'tokenFile']

/** Files below the kubeconfig's directory are named from there, as kubectl writes them; others by their whole path. */
function withRelativePaths(fields: KubeconfigFields, path: string): KubeconfigFields {
  const directory = dirname(path)
  const shown = pathFields.flatMap((name) => {
    const value = fields[name]
    if (typeof value !== 'string' || value === '') return []
    const absolute = resolve(directory, value)
    const below = relative(directory, absolute)
    return [[name, below.startsWith('..') || isAbsolute(below) ? absolute : below || '.'] as const]
  })
  return { ...fields, ...Object.fromEntries(shown) }
}

/** As kubectl does it: a file beside each that is there as long as somebody works on it. */
async function withLocks(paths: readonly string[], action: () => Promise<void>): Promise<void> {
  const held: string[] = []
  try {
    for (const path of paths.toSorted()) {
      const lock = `${path}.lock`
      await mkdir(dirname(lock), { recursive: true, mode: 0o750 })
      const handle = await open(lock, 'wx', 0).catch((error: NodeJS.ErrnoException) => {
        throw new CliError(
          error.code === 'EEXIST'
            ? `${path} is being changed by another program; remove ${lock} if that has died`
            : `cannot lock ${path}: ${error.message}`,
        )
      })
      await handle.close()
      held.push(lock)
    }
    await action()
  } finally {
    await Promise.all(held.map((lock) => rm(lock, { force: true })))
  }
}
