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

const pemBlock = /-----BEGIN ([^-\n]*)-----\r?\n([\s\S]*?)-----END \1-----/g

/** One certificate that can be read is enough. */
function caProblem(pem: string): string | undefined {
  if (pem === '') return undefined
  const blocks = [...pem.matchAll(pemBlock)]
  if (blocks.some(([text, type]) => type === 'CERTIFICATE' && isCertificate(text))) return undefined
  const rest = pem.slice((blocks.at(-1)?.index ?? 0) + (blocks.at(-1)?.[0].length ?? 0))
  if (blocks.length > 0 && rest.trim() === '') return 'no valid certificate authority data seen'
  return 'unable to parse bytes as PEM block'
}

function isCertificate(pem: string): boolean {
  try {
    new X509Certificate(pem)
    return true
  } catch {
    return false
  }
}
