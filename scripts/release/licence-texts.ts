import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Metafile } from 'esbuild'

/** The licences of the packages whose code is in a bundle, as they ask to be kept with it. Throws where one has none. */
export function licenceTexts(root: string, { inputs }: Metafile): string {
  const folders = new Set(
    Object.keys(inputs).flatMap((file) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0] ?? []),
  )
  return [...folders]
    .sort()
    .map((folder) => {
      const directory = join(root, folder)
      const { name, version, license } = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8'))
      const file = readdirSync(directory).find((each) => /^(licen[cs]e|copying)/i.test(each))
      if (file === undefined && license === undefined) throw new Error(`${name} ${version} has no licence`)
      const text = file === undefined ? `Licence: ${license}` : readFileSync(join(directory, file), 'utf8').trim()
      return `${name} ${version}\n\n${text}\n`
    })
    .join(`\n${'-'.repeat(80)}\n\n`)
}
