import { X509Certificate } from 'node:crypto'
import { type FieldError, invalidField } from '../field-error.ts'
import type { FieldPath } from '../field-path.ts'

/** What is wrong with certificates (PEM, in base64) by which that of a webhook is to be checked. */
export function caBundleErrors(bundle: string, path: FieldPath): readonly FieldError[] {
  const problem = caProblem(Buffer.from(bundle, 'base64').toString('latin1'))
  return problem === undefined ? [] : [invalidField(path, bundle, `unable to load root certificates: ${problem}`)]
}

/** Whether certificates (PEM, in base64) can be read, or there are none. */
export const isReadableCaBundle = (bundle: string): boolean =>
  caProblem(Buffer.from(bundle, 'base64').toString('latin1')) === undefined

/** One certificate that can be read is enough. */
function caProblem(pem: string): string | undefined {
  if (pem === '') return undefined
  const blocks = pemBlocks(pem)
  if (blocks.some(({ type, text }) => type === 'CERTIFICATE' && isCertificate(text))) return undefined
  if (blocks.length > 0 && pem.slice(blocks.at(-1)?.end).trim() === '')
    return 'no valid certificate authority data seen'
  return 'unable to parse bytes as PEM block'
}

interface PemBlock {
  readonly type: string
  readonly text: string
  /** Where it ends. */
  readonly end: number
}

const beginLine = /-----BEGIN ([^-\n]*)-----\r?\n/g
const endMark = '-----END '

/** The blocks of a text. It is gone through once, however many beginnings of blocks in it have no end. */
function pemBlocks(pem: string): readonly PemBlock[] {
  const blocks: PemBlock[] = []
  let end = 0
  let mark = pem.indexOf(endMark)
  for (const { 0: line, 1: type = '', index } of pem.matchAll(beginLine)) {
    if (index < end) continue
    const content = index + line.length
    if (mark < content && mark >= 0) mark = pem.indexOf(endMark, content)
    if (mark < 0) break
    if (!pem.startsWith(`${type}-----`, mark + endMark.length)) continue
    end = mark + endMark.length + type.length + '-----'.length
    blocks.push({ type, text: pem.slice(index, end), end })
  }
  return blocks
}

function isCertificate(pem: string): boolean {
  try {
    new X509Certificate(pem)
    return true
  } catch {
    return false
  }
}
