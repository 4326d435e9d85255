/** The most that the values of a ConfigMap or a Secret may come to: 1 MiB, counted in bytes. */
export const dataBytesMax = 1024 * 1024

/** Bytes of a text. */
export const utf8Bytes = (text: string): number => Buffer.byteLength(text, 'utf8')

/** Bytes that a text in base64 stands for. */
export const base64Bytes = (text: string): number => Buffer.byteLength(text, 'base64')
