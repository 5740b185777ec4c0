// What gmon-cc --on-demand adds to each shared object: a constructor that lets the runtime of the program, if there is
// one, count calls of the object's functions while calls are being counted.
    .section .init_array.00000, "aw", %init_array
    .balign 8
    .quad   gmon_loaded
    .text
    .balign 4
    .weak   gmon_calls_loaded
gmon_loaded:
    .cfi_startproc
    hint    #34 // bti c
    adrp    x16, :got:gmon_calls_loaded
    ldr     x16, [x16, :got_lo12:gmon_calls_loaded]
    cbz     x16, 1f
    br      x16
1:  ret
    .cfi_endproc
    .size   gmon_loaded, . - gmon_loaded
    .type   gmon_loaded, %function
// This code permits branch target identification and pointer authentication.
    .section .note.gnu.property, "a", %note
    .balign 8
    .long   4, 16, 5
    .asciz  "GNU"
    .long   0xc0000000, 4, 3, 0
    .section .note.GNU-stack, "", %progbits
