import { execFileSync } from 'node:child_process'
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { PublishedBundle } from '../bundle.ts'
import { stage } from './stage.ts'

/** A package as it would be published. */
export interface Tarball {
  readonly name: string
  readonly file: string
  readonly packedBytes: number
  readonly unpackedBytes: number
  readonly files: readonly string[]
}

/** Packs every package of the workspace into `output`, as it would be published: the command with this bundle. */
export async function pack(root: string, output: string, bundle: PublishedBundle): Promise<readonly Tarball[]> {
  const staged = join(output, '.staged')
  rmSync(staged, { recursive: true, force: true })
  mkdirSync(output, { recursive: true })
  const directories = await stage(root, staged, bundle)
  const args = ['pack', '--json', '--ignore-scripts', '--loglevel=error', '--pack-destination', output, ...directories]
  const packed: readonly NpmPack[] = JSON.parse(execFileSync('npm', args, { encoding: 'utf8', cwd: output }))
  rmSync(staged, { recursive: true })
  return packed.map(({ name, filename, size, unpackedSize, files }) => ({
    name,
    file: join(output, filename),
    packedBytes: size,
    unpackedBytes: unpackedSize,
    files: files.map(({ path }) => path),
  }))
}

/** What `npm pack --json` says of a package. */
interface NpmPack {
  readonly name: string
  readonly filename: string
  readonly size: number
  readonly unpackedSize: number
  readonly files: readonly { readonly path: string }[]
}
