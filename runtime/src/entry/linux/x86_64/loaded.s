# What gmon-cc --on-demand adds to each shared object: a constructor that lets the runtime of the program, if there is
# one, count calls of the object's functions while calls are being counted.
    .section .init_array.00000, "aw", @init_array
    .balign 8
    .quad   gmon_loaded
    .text
    .weak   gmon_calls_loaded
gmon_loaded:
    .cfi_startproc
    endbr64
    mov     gmon_calls_loaded@GOTPCREL(%rip), %rax
    test    %rax, %rax
    je      1f
    jmp     *%rax
1:  ret
    .cfi_endproc
    .size   gmon_loaded, . - gmon_loaded
    .type   gmon_loaded, @function
# This code permits indirect branch tracking and shadow stacks.
    .section .note.gnu.property, "a", @note
    .balign 8
    .long   4, 16, 5
    .asciz  "GNU"
    .long   0xc0000002, 4, 3, 0
    .section .note.GNU-stack, "", @progbits
