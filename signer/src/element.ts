/** Makes an element with these children. A text becomes a text, never HTML. */
export function element<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  { className }: { className?: string },
  ...children: readonly (HTMLElement | string)[]
): HTMLElementTagNameMap[Name] {
  const made = document.createElement(name)
  if (className !== undefined && className !== '') made.className = className
  made.append(...children)
  return made
}
