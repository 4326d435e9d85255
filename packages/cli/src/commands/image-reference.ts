const domainPart = '(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9])'
const host = `(?:${domainPart}(?:\\.${domainPart})*|\\[[a-fA-F0-9:]+\\])`
const pathPart = '[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*'
const digest = '[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}'

/** The grammar of image names: https://pkg.go.dev/github.com/distribution/reference. */
const reference = new RegExp(
  `^(?:${host}(?::[0-9]+)?/)?${pathPart}(?:/${pathPart})*(?::\\w[\\w.-]{0,127})?(?:@${digest})?$`,
)

/** Longer ones name nothing. */
const imageLengthMax = 1024

/** Whether a text can name an image: `busybox`, `registry.example:5000/team/tools:1.2`. */
export const isImageReference = (text: string): boolean => text.length <= imageLengthMax && reference.test(text)
