/**
 * `npm run release`: makes `dist/release`, all that a release has: the packages as they would be published, a bill of
 * materials, and checksums. With `--executable` also the program as one file for this platform. Publishes nothing.
 */
import { createHash } from 'node:crypto'
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { publishedBundle } from '../bundle.ts'
import { audit } from './audit.ts'
import { overBudget } from './budgets.ts'
import { buildExecutable } from './executable.ts'
import { pack } from './pack.ts'
import { sbom } from './sbom.ts'

const root = join(import.meta.dirname, '../..')
const output = join(root, 'dist/release')

rmSync(output, { recursive: true, force: true })
mkdirSync(output, { recursive: true })
const bundle = await publishedBundle(join(output, '.bundle'))
const tarballs = await pack(root, output, bundle)
for (const { name, file, packedBytes, unpackedBytes } of tarballs) {
  const sizes = `${kilobytes(packedBytes)} packed, ${kilobytes(unpackedBytes)} unpacked`
  console.log(`${relative(root, file)}  ${name}  ${sizes}`)
}
writeFileSync(join(output, 'sbom.cdx.json'), sbom(root))
copyFileSync(join(root, 'CHANGELOG.md'), join(output, 'CHANGELOG.md'))
if (process.argv.includes('--executable')) {
  console.log(relative(root, await buildExecutable(root, join(output, 'coracle'), bundle)))
}
rmSync(bundle.directory, { recursive: true })
writeFileSync(join(output, 'SHA256SUMS'), checksums(output))

const { findings, notAsked } = audit(root)
if (notAsked !== undefined) console.error(notAsked)
for (const problem of [...overBudget(tarballs), ...findings]) {
  console.error(problem)
  process.exitCode = 1
}

/** As `sha256sum --check` reads them. */
function checksums(directory: string): string {
  const lines = readdirSync(directory).map((name) => {
    const digest = createHash('sha256')
      .update(readFileSync(join(directory, name)))
      .digest('hex')
    return `${digest}  ${name}\n`
  })
  return lines.join('')
}

function kilobytes(bytes: number): string {
  return `${Math.ceil(bytes / 1000)} kB`
}
