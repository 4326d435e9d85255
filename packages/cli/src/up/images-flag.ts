import { readFileSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { type ClusterOptions, parseHostImages } from '@coracle/cluster'
import { parse } from 'yaml'
import { CliError } from '../cli-error.ts'

export interface ImagesFlags {
  /** A file that says which programs of this host images stand for. */
  readonly images?: string
}

/** A larger file is refused. */
const imagesFileBytesMax = 4 * 1024 * 1024

/** What images are on the process runtime. Throws a CliError that names the file and the field where that cannot be read. */
export function imagesOf({ images: path }: ImagesFlags, workingDirectory: string): Pick<ClusterOptions, 'images'> {
  if (path === undefined) return {}
  try {
    const file = resolve(workingDirectory, path)
    if (statSync(file).size > imagesFileBytesMax) throw new Error(`is larger than ${imagesFileBytesMax} bytes`)
    return { images: parseHostImages(parse(readFileSync(file, 'utf8'), { maxAliasCount: 100 })) }
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    // The parser shows the place below in lines of its own.
    throw new CliError(`--images: ${path}: ${message.split('\n')[0]?.replace(/:$/, '')}`)
  }
}
